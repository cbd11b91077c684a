"""Everything that can be refused before anything runs: servers, settings, scripts, the client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teiten.errors import UsageError
from teiten.load.pgbench import Pgbench
from teiten.server import dsn
from teiten.server.dsn import ForeignServer
from teiten.server.settings import check_settings
from teiten.server.source import Installation, parse_spec, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from teiten.plan import Plan, Treatment
    from teiten.study import Setup, Study

_BUILTIN_SCRIPTS = ("builtin:select-only", "builtin:simple-update", "builtin:tpcb-like")


@dataclass(frozen=True)
class Ready:
    """What a run needs from outside, found and checked. `servers` maps a spec to what it is."""

    servers: Mapping[str, Installation | ForeignServer]
    pgbench: Pgbench


def prepare(study: Study, plan: Plan, *, say: Callable[[str], None]) -> Ready:
    """Fetch all servers and the client, and check every set-up against them.

    Raises:
        UsageError: a server does not exist, does not know a setting, or cannot do what a set-up
            asks of it; one sentence that names the treatment.
        TeitenError: something cannot be fetched.
    """
    servers: dict[str, Installation | ForeignServer] = {}
    for spec in dict.fromkeys(t.setup.server for t in plan.treatments):
        source, rest = parse_spec(spec)
        servers[spec] = dsn.resolve(rest) if source == "dsn" else resolve(spec, say=say)
    checked: set[tuple[str, str]] = set()
    for treatment in plan.treatments:
        server = servers[treatment.setup.server]
        _check_script(study, treatment)
        if isinstance(server, ForeignServer):
            _check_foreign(treatment)
            continue
        _check_owned(treatment)
        question = (server.identity, repr(sorted(treatment.setup.guc_settings().items())))
        if question not in checked:
            check_settings(server, treatment.setup.guc_settings())
            checked.add(question)
    client = resolve(study.pgbench, say=say)
    client.program("pgbench")
    return Ready(servers, Pgbench(client))


def _check_script(study: Study, treatment: Treatment) -> None:
    script = treatment.setup.load.script
    if script not in study.scripts and script not in _BUILTIN_SCRIPTS:
        raise UsageError(
            f"Treatment {treatment.label()}: pgbench has no script {script!r}; "
            f"built in are {', '.join(_BUILTIN_SCRIPTS)}."
        )


def _check_foreign(treatment: Treatment) -> None:
    """A server that teiten does not own takes no settings and no fresh data directory."""
    setup: Setup = treatment.setup
    refused = {
        "settings": bool(setup.settings),
        "initdb": bool(setup.initdb),
        "data": setup.data.kind != "existing",
        "reset": setup.reset != "study",
        "observe": "callgrind" in setup.observe,
    }
    asked = [key for key, is_asked in refused.items() if is_asked]
    if asked:
        raise UsageError(
            f"Treatment {treatment.label()}: {setup.server} is not owned by teiten, so "
            f"setup.{asked[0]} cannot be followed; use no settings, no initdb options, "
            'data = { kind = "existing" } and reset = "study".'
        )


def _check_owned(treatment: Treatment) -> None:
    setup = treatment.setup
    if setup.data.kind == "existing":
        raise UsageError(
            f"Treatment {treatment.label()}: data of kind existing is only for a dsn: server, "
            f"and {setup.server} starts empty."
        )
