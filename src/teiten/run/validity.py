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
    began, lasted = facts.get("checkpoints", 0), facts.get("checkpoint_blocks", 0)
    stolen_pct = facts.get("steal_pct", facts.get("cpu_steal_pct", 0))
    foreign_pct = facts.get("foreign_cpu_pct", 0)
    autovacuums, failed = facts.get("autovacuums", 0), responses.get("failed_tx", 0)
    client_pct = responses.get("client_cpu_pct", 0)
    completed = responses.get("transactions", limits.transactions)
    checks = (
        (began > 0, "checkpoint", f"{began:.0f} checkpoint(s) fell into the trial."),
        (
            began == 0 and lasted > 0,
            "checkpoint",
            f"A checkpoint that began earlier wrote {lasted:.0f} blocks in the trial.",
        ),
        (
            autovacuums > 0,
            "autovacuum",
            f"Autovacuum worked on {autovacuums:.0f} table(s) during the trial.",
        ),
        (
            facts.get("server_restarted", 0) > 0,
            "server_restarted",
            "The server restarted during the trial.",
        ),
        (
            stolen_pct > limits.steal_pct,
            "steal",
            f"{stolen_pct:.1f}% of CPU time was stolen by other virtual machines.",
        ),
        (
            foreign_pct > limits.foreign_cpu_pct,
            "foreign_load",
            f"Other programs used {foreign_pct:.1f}% of this host's CPUs.",
        ),
        (failed > 0, "failed_transactions", f"{failed:.0f} transaction(s) failed."),
        (
            client_pct > limits.client_cpu_pct,
            "client_saturated",
            f"pgbench's threads were {client_pct:.0f}% busy: it may be the limit.",
        ),
        (
            completed < limits.transactions,
            "few_transactions",
            f"Only {completed:.0f} transactions were completed.",
        ),
    )
    return tuple(Flag(code, sentence) for applies, code, sentence in checks if applies)


def unjudged(facts: Mapping[str, float]) -> tuple[str, ...]:
    """What could not be judged, because no observer recorded it: one sentence, or none."""
    checks = {
        "checkpoints": ("checkpoints",),
        "autovacuum": ("autovacuums",),
        "stolen CPU time": ("steal_pct", "cpu_steal_pct"),
        "other programs": ("foreign_cpu_pct",),
    }
    missing = [what for what, names in checks.items() if not any(n in facts for n in names)]
    if not missing:
        return ()
    return (f"Not judged, since not observed: {', '.join(missing)}.",)
