"""The responses a trial can have: one table of names, units, direction and words.

A response that an observer reports and that is not named here is still kept in the archive; it
only has no title and takes part in no verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True)
class Response:
    """A measured quantity of a trial.

    `better` says which direction is an improvement.
    """

    name: str
    unit: str
    better: Better
    en: str
    ja: str

    def title(self, language: str) -> str:
        """The response's name for a reader, in `en` or `ja`."""
        return self.ja if language == "ja" else self.en


_ALL = (
    Response("tps", "tx/s", "higher", "Throughput (TPS)", "スループット (TPS)"),
    Response("latency_mean_ms", "ms", "lower", "Latency, mean", "平均レイテンシ"),
    Response("latency_p50_ms", "ms", "lower", "Latency, median", "レイテンシ中央値"),
    Response("latency_p90_ms", "ms", "lower", "Latency, 90th percentile", "レイテンシ 90%点"),
    Response("latency_p95_ms", "ms", "lower", "Latency, 95th percentile", "レイテンシ 95%点"),
    Response("latency_p99_ms", "ms", "lower", "Latency, 99th percentile", "レイテンシ 99%点"),
    Response("latency_max_ms", "ms", "lower", "Latency, maximum", "最大レイテンシ"),
    Response("failed_tx", "tx", "lower", "Failed transactions", "失敗トランザクション数"),
    Response(
        "instructions_per_tx",
        "instr/tx",
        "lower",
        "User instructions per transaction",
        "ユーザー命令数/トランザクション",
    ),
    Response(
        "instructions_kernel_per_tx",
        "instr/tx",
        "lower",
        "Kernel instructions per transaction",
        "カーネル命令数/トランザクション",
    ),
    Response(
        "cycles_per_tx",
        "cycles/tx",
        "lower",
        "User cycles per transaction",
        "ユーザーサイクル数/トランザクション",
    ),
    Response(
        "cycles_kernel_per_tx",
        "cycles/tx",
        "lower",
        "Kernel cycles per transaction",
        "カーネルサイクル数/トランザクション",
    ),
    Response(
        "callgrind_instructions_per_tx",
        "instr/tx",
        "lower",
        "User instructions per transaction (valgrind, one client)",
        "ユーザー命令数/トランザクション (valgrind計数・1クライアント)",
    ),
    Response(
        "server_cpu_us_per_tx",
        "us/tx",
        "lower",
        "Server CPU time per transaction",
        "サーバーCPU時間/トランザクション",
    ),
    Response(
        "server_cpu_user_us_per_tx",
        "us/tx",
        "lower",
        "Server CPU time per transaction, user",
        "サーバーCPU時間/トランザクション (ユーザー)",
    ),
    Response(
        "server_cpu_sys_us_per_tx",
        "us/tx",
        "lower",
        "Server CPU time per transaction, system",
        "サーバーCPU時間/トランザクション (システム)",
    ),
    Response(
        "client_cpu_us_per_tx",
        "us/tx",
        "neither",
        "Client CPU time per transaction",
        "クライアントCPU時間/トランザクション",
    ),
    Response("cpu_busy_pct", "%", "neither", "CPU busy", "CPU使用率"),
    Response("cpu_usr_pct", "%", "neither", "CPU %usr", "CPU %usr"),
    Response("cpu_sys_pct", "%", "neither", "CPU %sys", "CPU %sys"),
    Response("cpu_iowait_pct", "%", "neither", "CPU %iowait", "CPU %iowait"),
    Response("cpu_soft_pct", "%", "neither", "CPU %soft", "CPU %soft"),
    Response("cpu_steal_pct", "%", "neither", "CPU %steal", "CPU %steal"),
    Response("memory_used_mib", "MiB", "neither", "Memory used", "使用メモリ"),
    Response("disk_read_mib_s", "MiB/s", "neither", "Disk read", "ディスク読み込み"),
    Response("disk_write_mib_s", "MiB/s", "neither", "Disk written", "ディスク書き込み"),
    Response("network_mib_s", "MiB/s", "neither", "Network traffic", "ネットワーク転送量"),
    Response("wal_bytes_per_tx", "B/tx", "lower", "WAL per transaction", "WAL量/トランザクション"),
    Response(
        "wal_records_per_tx",
        "records/tx",
        "lower",
        "WAL records per transaction",
        "WALレコード数/トランザクション",
    ),
    Response(
        "wal_fpi_per_tx",
        "pages/tx",
        "lower",
        "Full-page images per transaction",
        "フルページイメージ数/トランザクション",
    ),
    Response(
        "buffers_hit_per_tx",
        "blocks/tx",
        "neither",
        "Buffers hit per transaction",
        "バッファヒット/トランザクション",
    ),
    Response(
        "buffers_read_per_tx",
        "blocks/tx",
        "lower",
        "Buffers read per transaction",
        "バッファ読み込み/トランザクション",
    ),
    Response(
        "blocks_written_per_tx",
        "blocks/tx",
        "lower",
        "Blocks written per transaction",
        "ブロック書き込み/トランザクション",
    ),
    Response(
        "temp_bytes_per_tx",
        "B/tx",
        "lower",
        "Temporary file bytes per transaction",
        "一時ファイル量/トランザクション",
    ),
)

RESPONSES = {r.name: r for r in _ALL}

GROUPS: dict[str, tuple[str, ...]] = {
    "latency": tuple(n for n in RESPONSES if n.startswith("latency_")),
    "cpu": tuple(n for n in RESPONSES if n.startswith("cpu_")),
    "memory": ("memory_used_mib",),
    "io": (
        "disk_read_mib_s",
        "disk_write_mib_s",
        "wal_bytes_per_tx",
        "wal_records_per_tx",
        "wal_fpi_per_tx",
        "buffers_hit_per_tx",
        "buffers_read_per_tx",
        "blocks_written_per_tx",
        "temp_bytes_per_tx",
    ),
}
"""Short names that stand for several responses in a study's `responses`."""


def expand(names: tuple[str, ...]) -> tuple[str, ...]:
    """Replace group names by their members; keep order, drop repeats."""
    flat = [member for name in names for member in GROUPS.get(name, (name,))]
    return tuple(dict.fromkeys(flat))
