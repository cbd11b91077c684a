"""Everything that can be refused before anything runs: servers, settings, scripts, the client."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teiten.environment.cpu import describe_cpu
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

DEFAULT_MAX_CONNECTIONS = 100
OWN_CONNECTIONS = 3
"""What observers and preparation may hold beside the clients."""
_OWN_INITDB_OPTIONS = (
    "-D",
    "-X",
    "-U",
    "-A",
    "-W",
    "--pgdata",
    "--waldir",
    "--username",
    "--auth",
    "--pw",
)
"""Where a cluster lies, and who may enter, is what teiten's cleaning up and safety rest on."""
_BUILTIN_SCRIPTS = ("builtin:select-only", "builtin:simple-update", "builtin:tpcb-like")


@dataclass(frozen=True)
class Ready:
    """What a run needs from outside, found and checked. `servers` maps a spec to what it is."""

    servers: Mapping[str, Installation | ForeignServer]
    pgbench: Pgbench

    def identities(self) -> dict[str, str]:
        """What exactly each server and the client are, and the processor: fixed for a run."""
        found = {
            spec: f"{server.package} ({server.identity})"
            for spec, server in self.servers.items()
            if not isinstance(server, ForeignServer)
        }
        client = self.pgbench.installation
        return {
            **found,
            "pgbench": f"{client.package} ({client.identity})",
            "processor": str(describe_cpu().get("model")),
        }


def refuse_if_changed(before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Check that a run that goes on has the servers, client and processor it began with.

    Raises:
        UsageError: one of them is another now, so that its trials would not be comparable.
    """
    for name, identity in before.items():
        if now.get(name) != identity:
            raise UsageError(
                f"The run began with {name} being {identity} and it is {now.get(name)} now: its "
                "trials would not be comparable; start a new run."
            )


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
        question = (server.identity, repr(sorted(treatment.setup.guc_settings().items())))
        if question not in checked:
            check_settings(server, treatment.setup.guc_settings())
            checked.add(question)
        _check_owned(treatment)
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
    for name in treatment.setup.load.variables:
        if not re.search(rf"(:|\\set[ \t]+){name}\b", study.scripts.get(script, "")):
            raise UsageError(
                f"Treatment {treatment.label()}: the script {script} has no variable {name}; "
                "name one that it uses in setup.load.variables."
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
    allowed = int(setup.settings.get("max_connections", DEFAULT_MAX_CONNECTIONS))
    if setup.clients + OWN_CONNECTIONS > allowed:
        raise UsageError(
            f"Treatment {treatment.label()}: {setup.clients} clients and {OWN_CONNECTIONS} "
            f"connections of teiten's own do not fit into max_connections = {allowed}; raise "
            "setup.settings.max_connections."
        )
    for option in setup.initdb:
        if option.startswith(_OWN_INITDB_OPTIONS):
            raise UsageError(
                f"Treatment {treatment.label()}: the initdb option {option} is for teiten itself "
                "to give; leave it out of setup.initdb."
            )
    if setup.data.kind == "existing":
        raise UsageError(
            f"Treatment {treatment.label()}: data of kind existing is only for a dsn: server, "
            f"and {setup.server} starts empty."
        )
