"""Judge whether a trial measured what it was meant to measure. Pure.

A flagged trial is kept and shown as flagged; it is never dropped silently.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teiten.archive.format import Flag

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Limits:
    """From where on a disturbance is worth a flag.

    Steal and foreign load are in percent of all CPUs of the host: 1% of stolen time can move TPS
    by 1%, the margin of most studies. A client that leaves less than 10% of its threads' time
    unused may itself be the bottleneck.
    """

    steal_pct: float = 1.0
    foreign_cpu_pct: float = 5.0
    client_cpu_pct: float = 90.0
    transactions: int = 100


DEFAULT_LIMITS = Limits()


def judge(
    facts: Mapping[str, float],
    responses: Mapping[str, float],
    limits: Limits = DEFAULT_LIMITS,
) -> tuple[Flag, ...]:
    """All flags of a trial, from the observers' facts and the load's responses.

    Facts that were not recorded raise no flag.
    """
    flags: list[Flag] = []

    def flag(code: str, sentence: str) -> None:
        flags.append(Flag(code, sentence))

    if (n := facts.get("checkpoints", 0)) > 0:
        flag("checkpoint", f"{n:.0f} checkpoint(s) fell into the trial.")
    if (n := facts.get("autovacuums", 0)) > 0:
        flag("autovacuum", f"Autovacuum worked on {n:.0f} table(s) during the trial.")
    if facts.get("server_restarted", 0) > 0:
        flag("server_restarted", "The server restarted during the trial.")
    if (pct := facts.get("steal_pct", 0)) > limits.steal_pct:
        flag("steal", f"{pct:.1f}% of CPU time was stolen by other virtual machines.")
    if (pct := facts.get("foreign_cpu_pct", 0)) > limits.foreign_cpu_pct:
        flag("foreign_load", f"Other programs used {pct:.1f}% of this host's CPUs.")
    if (n := responses.get("failed_tx", 0)) > 0:
        flag("failed_transactions", f"{n:.0f} transaction(s) failed.")
    if (pct := responses.get("client_cpu_pct", 0)) > limits.client_cpu_pct:
        flag("client_saturated", f"pgbench's threads were {pct:.0f}% busy: it may be the limit.")
    if (n := responses.get("transactions", limits.transactions)) < limits.transactions:
        flag("few_transactions", f"Only {n:.0f} transactions were completed.")
    return tuple(flags)
