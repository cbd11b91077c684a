"""`teiten analyse` as a user has it, on the reference data sets."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import subprocess

    from tests.func.cli.conftest import Command

DATA = Path(__file__).parents[2] / "data" / "stats"
BALANCED = DATA / "d05_2x8x3_noblock.csv"
LOST = DATA / "d09_2x8x3_missing2.csv"
TWO_FACTORS = ("--factor", "version", "--factor", "num", "--response", "tps")


def done(ended: subprocess.CompletedProcess[str]) -> str:
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    return ended.stdout


def refused(ended: subprocess.CompletedProcess[str], status: int = 2) -> str:
    """The one sentence that a refused command tells."""
    assert "Traceback" not in ended.stderr
    assert ended.returncode == status, ended.stderr
    (line,) = ended.stderr.splitlines()
    assert line.startswith("teiten: ")
    assert line.endswith((".", ")."))
    return line


def reference(table: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(table.with_suffix(".json").read_text(encoding="utf-8"))
    return found


def rows_of(markdown: str, title: str) -> list[list[str]]:
    """The cells of the table under a title."""
    after = markdown.split(f"**{title}**", maxsplit=1)[1].lstrip("\n").split("\n\n", maxsplit=1)[0]
    return [
        [cell.strip().replace("\\", "") for cell in line.strip("|").split("|")]
        for line in after.splitlines()[2:]
    ]


@pytest.mark.parametrize(
    ("name", "factors"),
    [
        ("d09_2x8x3_missing2", ("version", "num")),
        ("d12_2x2x6x3_checksum", ("version", "checksum", "num")),
    ],
)
def test_json_holds_what_the_reference_files_hold_under_their_names(
    teiten: Command, name: str, factors: tuple[str, ...]
) -> None:
    table = DATA / f"{name}.csv"
    options = [word for factor in factors for word in ("--factor", factor)]
    text = done(teiten("analyse", str(table), *options, "--response", "tps", "--format", "json"))
    found, expected = json.loads(text), reference(table)
    assert found["response"] == "tps"
    assert found["n"] == expected["n"]
    for key in ("levene", "artc_all_cells", "artc_main", "artc_pairs"):
        assert found.get(key, {}).keys() == expected.get(key, {}).keys(), key
    assert found["art_anova"].keys() == expected["art_anova_tight"].keys()
    assert found["levene"]["mean"] == pytest.approx(expected["levene"]["mean"])
    tight = expected["art_anova_tight"]
    assert found["art_anova"]["term"] == tight["term"]
    assert found["art_anova"]["F"] == pytest.approx(tight["F"], rel=1e-5)
    parts = {"anova", "emmeans", "version_by_rest", "version_by_rest_tukey", "version_marginal"}
    for part in parts:
        assert found["log_lmm"][part].keys() == expected["log_lmm_tight"][part].keys()


def test_the_tables_show_what_r_says(teiten: Command) -> None:
    text = done(teiten("analyse", str(LOST), *TWO_FACTORS, "--format", "md"))
    expected = reference(LOST)
    anova = expected["art_anova_tight"]
    rows = rows_of(text, "Analysis of variance of aligned rank transformed data")
    assert [row[0] for row in rows] == anova["term"]
    assert [float(row[1]) for row in rows] == pytest.approx(anova["F"], abs=6e-4, rel=1e-5)
    assert [float(row[3]) for row in rows] == pytest.approx(anova["df_res"], rel=1e-3)
    held = dict(
        zip(
            expected["artc_all_cells_tight"]["contrast"],
            zip(
                *(expected["artc_all_cells_tight"][k] for k in ("estimate", "df", "p_value")),
                strict=True,
            ),
            strict=True,
        )
    )
    contrasts = rows_of(text, "Post-hoc contrasts (ART-C)")
    assert [row[0] for row in contrasts] == [
        f"16.6,{num} - 17.2,{num}" for num in (1, 2, 4, 8, 16, 32, 64, 128)
    ]
    for name, estimate, _, df, _, p, _ in contrasts:
        r_estimate, r_df, r_p = held[name]
        assert float(estimate.replace("\N{MINUS SIGN}", "-")) == pytest.approx(r_estimate, abs=0.01)
        assert float(df) == pytest.approx(r_df, abs=0.051)
        assert (p == "< .0001") == (r_p < 0.0001)
        if p != "< .0001":
            assert float(p) == pytest.approx(r_p, abs=6e-5)
    assert "comparing a family of 16 estimates" in text
    assert f"Model: {expected['formula']}".replace("*", "\\*") in text
    assert "2 treatment(s) missing from a block" in text


def test_tables_on_a_terminal_fit_and_state_what_blocks_cannot_show(teiten: Command) -> None:
    text = done(teiten("analyse", str(BALANCED), *TWO_FACTORS))
    assert max(map(len, text.splitlines())) <= 200
    assert "F(1, 2), so it is significant at 5% only above F = 18.5" in text
    assert "ARTool" in text
    assert "16.6,128 - 17.2,128" in text


def test_the_same_analysis_from_a_pipe_into_a_file_and_in_japanese(
    teiten: Command, tmp_path: Path
) -> None:
    table, path = BALANCED.read_text(encoding="utf-8"), tmp_path / "analysis.json"
    from_file = done(teiten("analyse", str(BALANCED), *TWO_FACTORS, "--format", "json"))
    words = ("analyse", "-", *TWO_FACTORS, "--format", "json", "--output", str(path))
    assert done(teiten(*words, stdin=table)) == ""
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(from_file)
    japanese = done(teiten("analyse", "-", *TWO_FACTORS, "--lang", "ja", stdin=table))
    assert "統計解析" in japanese
    assert "下位検定" in japanese


def test_several_responses_are_each_analysed(teiten: Command, tmp_path: Path) -> None:
    rows = list(csv.DictReader(BALANCED.read_text(encoding="utf-8").splitlines()))
    text = io.StringIO()
    writer = csv.DictWriter(text, [*rows[0], "net"], lineterminator="\n")
    writer.writeheader()
    for row in rows:  # what remains when 9000 is spent can be negative
        writer.writerow({**row, "net": float(row["tps"]) - 9000})
    path = tmp_path / "two.csv"
    path.write_text(text.getvalue(), encoding="utf-8")
    words = ("analyse", str(path), *TWO_FACTORS, "--response", "net", "--format")
    tps, net = json.loads(done(teiten(*words, "json")))
    assert (tps["response"], net["response"]) == ("tps", "net")
    assert net["art_anova"] == tps["art_anova"]  # ranks know no shift
    assert tps["log_lmm"] is not None
    assert net.get("log_lmm") is None
    assert "no model of logarithms" in done(teiten(*words, "md"))


def test_a_reference_turns_the_contrasts(teiten: Command) -> None:
    words = ("analyse", str(BALANCED), *TWO_FACTORS, "--format", "md")
    title = "Post-hoc contrasts (ART-C)"
    old_first = rows_of(done(teiten(*words)), title)
    new_first = rows_of(done(teiten(*words, "--reference", "17.2")), title)
    assert [row[0] for row in new_first] == [
        " - ".join(reversed(row[0].split(" - "))) for row in old_first
    ]
    assert [row[5] for row in new_first] == [row[5] for row in old_first]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("no.csv", *TWO_FACTORS), "Cannot read no.csv: No such file or directory; name a CSV"),
        (("/", *TWO_FACTORS), "Cannot read /: Is a directory"),
        (("-", *TWO_FACTORS), "Standard input is empty"),
        ((str(BALANCED), *TWO_FACTORS, "--block", "day"), "has no column day: name one of its"),
        (
            (str(BALANCED), *TWO_FACTORS, "--reference", "18.1"),
            "has no level 18.1: give --reference one of 16.6, 17.2",
        ),
    ],
)
def test_what_cannot_be_followed_is_told_in_one_sentence(
    teiten: Command, words: tuple[str, ...], told: str
) -> None:
    assert told in refused(teiten("analyse", *words))


def test_a_mistake_in_a_cell_is_told_with_file_line_and_column(
    teiten: Command, tmp_path: Path
) -> None:
    lines = BALANCED.read_text(encoding="utf-8").splitlines()
    lines[6] = lines[6].rsplit(",", maxsplit=1)[0] + ",fast"
    path = tmp_path / "bad.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    told = refused(teiten("analyse", str(path), *TWO_FACTORS))
    assert f"{path}, line 7, column tps: “fast” is not a finite number" in told


def test_values_without_any_error_are_told(teiten: Command) -> None:
    rows = [f"{b},{v},{n},{v * n}" for b in (1, 2) for v in (3, 5) for n in (1, 4)]
    table = "\n".join(["block,version,num,tps", *rows])
    told = refused(teiten("analyse", "-", *TWO_FACTORS, stdin=table))
    assert "Standard input, column tps: " in told
    assert "there is no error to test against" in told


def test_a_place_that_cannot_be_written_is_told(teiten: Command, tmp_path: Path) -> None:
    place = str(tmp_path / "none" / "a.md")
    words = ("analyse", str(BALANCED), *TWO_FACTORS, "--format", "md", "-o", place)
    told = refused(teiten(*words), status=1)
    assert place in told
    assert "--output" in told
