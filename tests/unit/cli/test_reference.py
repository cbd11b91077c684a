"""The command reference is what the program says of itself."""

from __future__ import annotations

from scripts.command_reference import REFERENCE, reference


def test_the_reference_is_up_to_date() -> None:
    assert REFERENCE.read_text(encoding="utf-8") == reference(), "run `make docs`"


def test_every_command_and_option_says_what_it_is_for() -> None:
    for line in reference().splitlines():
        if line.startswith("  --") and len(line.split("  ")) < 3:
            raise AssertionError(f"no help: {line}")
