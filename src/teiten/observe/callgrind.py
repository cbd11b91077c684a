"""Instructions per transaction counted by valgrind, for hosts without hardware counters.

No observer of the measured window: a phase of its own, with the server run under
`valgrind --tool=callgrind` and one client. Each process writes its count of user instructions
when it ends. The load runs twice, with n1 and with n2 transactions; connecting, and what a first
execution costs, cancels in the difference:

    instructions per transaction = (I(n2) - I(n1)) / (n2 - n1)

What the processes do to read from the client is left out: whether a statement has arrived when the
server asks for it is a matter of time. A server without symbols (`PostgresMain`, `secure_read`) is
counted with it.

The counts are of the instructions of the processor that valgrind emulates (AVX2, no AVX-512):
what the server chooses by the processor's features may differ from a run without valgrind.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import zstandard

from teiten.errors import TeitenError
from teiten.observe.processes import process_tree, wait_for_new_to_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

SETTINGS: Mapping[str, str] = {
    # Only what the load asks for may run, and what it touches fits into the buffers.
    "autovacuum": "off",
    "shared_buffers": "1GB",
    "huge_pages": "off",
    # The WAL writer, when it happens to wake, readies log pages that the load would have to ready
    # itself: up to 0.6% of an update.
    "wal_writer_delay": "10s",
    "bgwriter_delay": "10s",
}
"""Settings for the counted phase, on top of the set-up's own."""

FIRST_TRANSACTIONS = 5
SPANS = (20, 200, 1000)
_MOST_INSTRUCTIONS = 5e8  # per run; some 5 s under valgrind
_EXIT_WAIT_S = 60.0
_PREFIX = "callgrind."


@dataclass(frozen=True)
class InstructionCount:
    """User instructions of all server processes that the load made, in two runs.

    `transactions` and `instructions` are those of the shorter and of the longer run.
    """

    transactions: tuple[int, int]
    instructions: tuple[int, int]

    @property
    def instructions_per_tx(self) -> float:
        """What one more transaction costs."""
        return difference_per_tx(self.transactions, self.instructions)


def difference_per_tx(transactions: tuple[int, int], instructions: tuple[int, int]) -> float:
    """Divide the further instructions of the longer run by its further transactions."""
    return (instructions[1] - instructions[0]) / (transactions[1] - transactions[0])


def choose_span(instructions_per_tx: float) -> int:
    """Choose how many more transactions the longer run has: as many as stay affordable.

    The steps are coarse so that treatments which differ little run the same transactions, and
    none lies near what a transaction of the shipped scripts or of pgbench's own takes.
    """
    affordable = [n for n in SPANS if n * instructions_per_tx <= _MOST_INSTRUCTIONS]
    return max(affordable, default=SPANS[0])


def parse_summary(text: str) -> int:
    """Read the instructions counted from a callgrind output file.

    The line `summary:` holds the cost of one part of the file, in the order of `events:`
    (Callgrind Format Specification, section 3); a file has one part unless dumps were asked for.

    Raises:
        TeitenError: the file is cut short or counts something else.
    """
    events: list[str] = []
    total: int | None = None
    for line in text.splitlines():
        key, colon, rest = line.partition(":")
        if not colon:
            continue
        if key == "events":
            events = rest.split()
        elif key == "summary" and "Ir" in events:
            total = (total or 0) + int(rest.split()[events.index("Ir")])
    if total is None:
        raise TeitenError("callgrind wrote no summary of instructions (Ir).")
    return total


def unavailable() -> str | None:
    """None, or one sentence: why instructions cannot be counted this way."""
    if shutil.which("valgrind") is not None:
        return None
    return "Instructions are not counted by valgrind: install the package valgrind."


class CallgrindCounter:
    """Counts the instructions of a load on a server that runs under `launcher`.

    `work_dir` must be an empty directory that the server user can write.
    """

    def __init__(self, work_dir: Path) -> None:
        """Write into `work_dir`."""
        self.work_dir = work_dir

    @property
    def launcher(self) -> tuple[str, ...]:
        """The command line to start the server with (`Cluster.start(launcher=...)`)."""
        return (
            "valgrind",
            "--quiet",
            "--tool=callgrind",
            "--vgdb=no",
            "--dump-line=no",
            # Without what each process inherits from the postmaster's start.
            "--zero-before=PostgresMain",
            # Waiting for the client takes more or fewer instructions as the client is slow or fast.
            "--toggle-collect=secure_read",
            "--collect-atstart=yes",  # in this order: the option before implies the opposite
            f"--log-file={self.work_dir / 'valgrind.%p.log'}",
            f"--callgrind-out-file={self.work_dir / _PREFIX}%p",
        )

    def count(
        self, postmaster_pid: int, run_load: Callable[[int], object], raw_dir: Path
    ) -> InstructionCount:
        """Run the load often enough to tell what one transaction costs.

        `run_load(n)` runs n transactions of one client, always the same ones, to their end.
        The outputs of the longer run's processes are kept in `raw_dir`, compressed.

        Raises:
            TeitenError: a server process did not end, or callgrind wrote no count.
        """
        first, span = FIRST_TRANSACTIONS, SPANS[0]
        # What runs first brings in what the later runs need, and does not count.
        self._run(postmaster_pid, run_load, first + span)
        shorter = self._run(postmaster_pid, run_load, first)
        longer = self._run(postmaster_pid, run_load, first + span)
        rough = difference_per_tx((first, first + span), (_total(shorter), _total(longer)))
        if (affordable := choose_span(rough)) != span:
            span = affordable
            self._run(postmaster_pid, run_load, first + span)
            longer = self._run(postmaster_pid, run_load, first + span)
        _keep(longer, raw_dir)
        return InstructionCount((first, first + span), (_total(shorter), _total(longer)))

    def _run(
        self, postmaster_pid: int, run_load: Callable[[int], object], transactions: int
    ) -> list[Path]:
        """Run the load; return the outputs of the processes that ended with it."""
        before = set(self._outputs())
        known = process_tree(postmaster_pid)
        run_load(transactions)
        wait_for_new_to_end(postmaster_pid, known, _EXIT_WAIT_S)
        if process_tree(postmaster_pid) - known:
            raise TeitenError("A server process did not end after the counted load.")
        # A process from before the load may end only now, such as one that looked after readiness.
        new = sorted(x for x in set(self._outputs()) - before if int(x.suffix[1:]) not in known)
        if not new:
            raise TeitenError(f"callgrind wrote nothing into {self.work_dir}.")
        return new

    def _outputs(self) -> Sequence[Path]:
        return list(self.work_dir.glob(f"{_PREFIX}*"))


def _total(outputs: Iterable[Path]) -> int:
    return sum(parse_summary(path.read_text()) for path in outputs)


def _keep(outputs: Iterable[Path], raw_dir: Path) -> None:
    compressor = zstandard.ZstdCompressor(level=9)
    for path in outputs:
        (raw_dir / f"{path.name}.out.zst").write_bytes(compressor.compress(path.read_bytes()))
