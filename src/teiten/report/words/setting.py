"""Words of environment, reproduction and the frame of the page."""
# ruff: noqa: RUF001 - Japanese punctuation is meant

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    # Environment, reproduction
    "environment": ("Environment", "環境"),
    "no_environment": (
        "The run was cut off before the machine was described.",
        "マシンの記録の前に実行が中断された。",
    ),
    "env_machine": ("Machine", "マシン"),
    "env_servers": ("Servers", "サーバー"),
    "env_builds": ("Servers: how they were built", "サーバーのビルド情報"),
    "also_differ": (
        "Besides their version the servers differ in: {what}.",
        "サーバーはバージョンのほかに次の点も異なる：{what}。",
    ),
    "env_client": ("Client", "クライアント"),
    "different": ("values that differ are marked ◆", "◆は値が異なる項目"),
    "reproduce": ("How to reproduce", "再現方法"),
    "reproduce_text": (
        (
            "Save the study below as study.toml (it is also in the run's folder, with the load "
            "scripts in it) and run:"
        ),
        (
            "下記を study.toml として保存し（実行フォルダーにも同じものがある。"
            "負荷スクリプトも含む）、"
            "次を実行する："
        ),
    ),
    "reproduce_took": (
        (
            "This run was made by teiten {teiten} with pgbench {pgbench}; its {trials} trials took "
            "{duration}, from {begin} to {end} (UTC). The seed {seed} gives the same order of "
            "trials."
        ),
        (
            "この実行は teiten {teiten}、pgbench {pgbench} による。{trials}試行に{duration}を要した"
            "（{begin}～{end} UTC）。乱数シード{seed}により試行の順序も同じになる。"
        ),
    ),
    "command": ("Command", "コマンド"),
    "study_file": ("study.toml as resolved", "study.toml（展開後）"),
    "missing": ("What was not recorded", "記録されなかったもの"),
    "all_recorded": (
        "Everything that the study asks for was recorded.",
        "求めた指標はすべて記録された。",
    ),
    "missing_response": ("Not recorded in any trial: {names}.", "どの試行でも記録なし：{names}。"),
    # Frame of the page
    "contents": ("Contents", "目次"),
    "question": ("Question", "問い"),
    "run_line": ("Run {name}, {begin} (UTC)", "実行 {name}、{begin}（UTC）"),
    "made_by": ("Made by teiten {version}.", "teiten {version} により作成。"),
}
