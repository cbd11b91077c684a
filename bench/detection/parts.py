"""The measurements, each a study: the truth in them is known, since the load was changed by it."""

from __future__ import annotations

from dataclasses import dataclass

from teiten.study import Study, parse_study

_HEAD = """
name = "{name}"
title = {{ en = "{title}" }}
blocks = {blocks}
seed = 20260101
"""

_SETTINGS = """
[setup.settings]
autovacuum = false
checkpoint_timeout = "60min"
max_wal_size = "16GB"
shared_buffers = "512MB"
"""

_READ_ROWS = """
[[factor]]
name = "rows"
reference = "10000"
[factor.levels]
"10000" = { load = { variables = { row_count = 10000 } } }
"10000 again" = { load = { variables = { row_count = 10000 } } }
"""

_UPDATE_COST = """
[[factor]]
name = "cost"
reference = "plain"
[factor.levels]
"plain" = { load = { variables = { copies = 1 } } }
"plain again" = { load = { variables = { copies = 1 } } }
"""

# The shipped update with a dial: the text that is hashed is written so many times.
_UPDATE_SCRIPT = r'''
[scripts]
"update-copies.sql" = """
\\set copies 1
\\set naccounts 100000 * :scale
\\set aid_val random(1, :naccounts)
UPDATE pgbench_accounts SET filler = repeat(md5(repeat(current_timestamp::text, :copies)), 2) \
WHERE aid = :aid_val;
"""
'''

_COUNTED = """
server = "npm:18.1"
data = {{ kind = "pgbench", scale = 1, fillfactor = {fillfactor} }}
load = {{ kind = "pgbench", script = "{script}", duration_s = 1, transactions_per_client = 1 }}
reset = "study"
prewarm = false
observe = ["callgrind"]
"""

_TIMED = """
server = "npm:18.1"
data = {{ kind = "pgbench", scale = 10, fillfactor = {fillfactor} }}
load = {{ kind = "pgbench", script = "{script}", duration_s = {duration_s} }}
clients = 2
reset = "study"
observe = {observe}
"""


def _rows(*counts: int) -> str:
    return _READ_ROWS + "".join(
        f'"{n}" = {{ load = {{ variables = {{ row_count = {n} }} }} }}\n' for n in counts
    )


def _copies(*counts: int) -> str:
    return _UPDATE_COST + "".join(
        f'"{n} copies" = {{ load = {{ variables = {{ copies = {n} }} }} }}\n' for n in counts
    )


@dataclass(frozen=True)
class Part:
    """One study; `quiet` says that it needs a host on which nothing else runs."""

    name: str
    title: str
    blocks: int
    quiet: bool
    setup: str
    factor: str
    scripts: str = ""

    def study(self, blocks: int | None = None) -> Study:
        """The study, with another number of blocks where that is asked for."""
        head = _HEAD.format(name=self.name, title=self.title, blocks=blocks or self.blocks)
        text = f"{head}{self.scripts}\n[setup]\n{self.setup}{_SETTINGS}{self.factor}"
        return parse_study(text, where=self.name)


_READ, _UPDATE = "readonly.sql", "update-copies.sql"

PARTS = (
    Part(
        "counted-read",
        "Instructions of 0.1% more rows",
        blocks=80,
        quiet=False,
        setup=_COUNTED.format(script=_READ, fillfactor=100),
        factor=_rows(10010),
    ),
    Part(
        "counted-doses",
        "Instructions by rows",
        blocks=3,
        quiet=True,
        setup=_COUNTED.format(script=_READ, fillfactor=100),
        factor=_rows(10010, 10100, 10200, 10500),
    ),
    Part(
        "counted-update",
        "Instructions of a dearer update",
        blocks=20,
        quiet=False,
        setup=_COUNTED.format(script=_UPDATE, fillfactor=100),
        factor=_copies(2, 5),
        scripts=_UPDATE_SCRIPT,
    ),
    Part(
        "timed-read",
        "TPS of 1%, 2% and 5% more rows",
        blocks=60,
        quiet=True,
        setup=_TIMED.format(
            script=_READ, fillfactor=100, duration_s=2, observe='["procfs", "counters"]'
        ),
        factor=_rows(10100, 10200, 10500),
    ),
    Part(
        "timed-read-long",
        "TPS of one server in long trials",
        blocks=4,
        quiet=True,
        setup=_TIMED.format(
            script=_READ, fillfactor=100, duration_s=30, observe='["procfs", "counters"]'
        ),
        factor=_READ_ROWS,
    ),
    Part(
        "timed-update",
        "TPS of updates",
        blocks=15,
        quiet=True,
        setup=_TIMED.format(
            script=_UPDATE, fillfactor=100, duration_s=5, observe='["procfs", "counters", "pgstat"]'
        ).replace('reset = "study"', 'reset = "trial"'),
        factor=_UPDATE_COST,
        scripts=_UPDATE_SCRIPT,
    ),
)
