"""Who a host is: its id is never kept, and rounding makes no new host."""

from __future__ import annotations

from pathlib import Path

from teiten.environment import describe_machine
from teiten.environment.identity import describe_identity, hashed_machine_id, host_identity

ID = "4dcbb1e3d8b94e1db7b2a1b5f9d6c3aa"


def test_the_id_is_told_apart_but_never_shown() -> None:
    hashed = hashed_machine_id(ID)
    assert hashed is not None
    assert hashed not in ID
    assert hashed == hashed_machine_id(ID)
    assert hashed != hashed_machine_id(ID[::-1])


def test_a_machine_without_an_id_has_none() -> None:
    assert hashed_machine_id(None) is None
    assert hashed_machine_id("uninitialized") is None


def test_this_machines_id_is_not_in_its_description() -> None:
    description = describe_machine([])
    assert description["identity"] == describe_identity()
    file = Path("/etc/machine-id")
    if file.exists() and (text := file.read_text(encoding="ascii").strip()):
        assert text not in str(description)
    identity = host_identity(description)
    assert identity["cpus"] == description["cpu"]["threads"]
    assert identity["memory_gib"] == round(description["memory"]["total_bytes"] / 2**30)
    assert str(description["kernel"]["release"]).startswith(str(identity["kernel"]))


def test_a_description_with_holes_gives_an_identity_with_holes() -> None:
    assert set(host_identity({"cpu": None, "kernel": {"release": None}}).values()) == {None}
