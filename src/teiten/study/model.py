"""Study, Set-up, Factor, Level: the typed content of a study file."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from teiten.responses import GROUPS, RESPONSES, expand
from teiten.study.patching import key_path, merge, scalar_text, substitute

Scalar = bool | int | float | str


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PgbenchData(_Strict):
    """Tables of `pgbench -i`."""

    kind: Literal["pgbench"]
    scale: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    fillfactor: Annotated[int, Field(ge=10, le=100)] = 100


class ExistingData(_Strict):
    """Data that is already there, in a server that teiten does not own (`dsn:`)."""

    kind: Literal["existing"]
    scale: Annotated[int, Field(ge=1, le=1_000_000)] = 1


class PgbenchLoad(_Strict):
    """A pgbench script run by a number of clients for a time.

    `script` is a file beside the study, one of teiten's own (`readonly.sql`, `update.sql`), or
    `builtin:NAME` (as `pgbench -b`). The `warmup_s` seconds come before the `duration_s` that are
    measured. With `transactions_per_client` every client runs that many transactions in place of
    `duration_s`, which then only says how long that may take, and the warm-up as many more in the
    proportion of `warmup_s` to `duration_s`: so that all trials have the same history.
    `variables` gives numbers to variables of the script, in place of what the script sets them to.
    `threads` is by default as many as there are clients, up to the host's cores.
    """

    kind: Literal["pgbench"]
    script: str
    duration_s: Annotated[int, Field(ge=1, le=7 * 86400)]
    warmup_s: Annotated[int, Field(ge=0, le=86400)] = 0
    transactions_per_client: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    variables: dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], int | float] = {}
    protocol: Literal["simple", "extended", "prepared"] = "simple"
    threads: Annotated[int, Field(ge=1)] | None = None


ObserverName = Literal["sysstat", "procfs", "counters", "pgstat", "callgrind"]


class Setup(_Strict):
    """Everything that holds for one trial. Any key of it can be a factor."""

    server: str
    initdb: tuple[str, ...] = ()
    settings: dict[str, Scalar] = {}
    data: Annotated[PgbenchData | ExistingData, Field(discriminator="kind")]
    load: PgbenchLoad
    clients: Annotated[int, Field(ge=1, le=100_000)] = 1
    reset: Literal["trial", "block", "study"] = "trial"
    prewarm: bool = True
    observe: tuple[ObserverName, ...] = ("sysstat", "procfs", "counters", "pgstat")

    def guc_settings(self) -> dict[str, str]:
        """The PostgreSQL settings as strings, in the server's own notation."""
        return {name: guc_text(value) for name, value in self.settings.items()}


def guc_text(value: Scalar) -> str:
    """Write a TOML value as PostgreSQL writes it (`true` is `on`)."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


class Level(_Strict):
    """One value of a factor: a label, the value it stands for, and its patch on the set-up."""

    label: str
    value: Scalar
    patch: dict[str, Any]


class Factor(_Strict):
    """What is varied.

    `levels` is a table from label to patch, or a list of values. A listed value patches the
    set-up key named by `key` (by default the factor's own name), or, with `patch`, the template
    in which `{level}` stands for the value.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    title: dict[str, str] = {}
    reference: str | None = None
    key: str | None = None
    patch: dict[str, Any] | None = None
    levels: Annotated[dict[str, dict[str, Any]] | list[Scalar], Field(min_length=1)]

    @field_validator("reference", mode="before")
    @classmethod
    def _reference_is_a_label(cls, value: object) -> object:
        return scalar_text(value) if isinstance(value, int | float) else value

    @model_validator(mode="after")
    def _labels_are_distinct_and_hold_the_reference(self) -> Self:
        labels = self.labels
        if len(set(labels)) != len(labels):
            raise ValueError(f"the levels of factor {self.name} repeat: {', '.join(labels)}")
        if self.reference is not None and self.reference not in labels:
            raise ValueError(
                f"the reference {self.reference!r} of factor {self.name} is not one of its levels "
                f"({', '.join(labels)})"
            )
        return self

    @property
    def labels(self) -> list[str]:
        """The labels of the levels, in the study's order."""
        return [scalar_text(level) for level in self.levels]

    @property
    def reference_label(self) -> str:
        """The label that ratios are formed to: `reference`, else the first level."""
        return self.reference if self.reference is not None else self.labels[0]

    def resolved_levels(self) -> tuple[Level, ...]:
        """All levels with their patches written out."""
        if isinstance(self.levels, dict):
            return tuple(
                Level(label=label, value=self._value_of(label, patch), patch=patch)
                for label, patch in self.levels.items()
            )
        return tuple(
            Level(label=scalar_text(value), value=value, patch=self._patch_of(value))
            for value in self.levels
        )

    def _value_of(self, label: str, patch: dict[str, Any]) -> Scalar:
        """A label that writes out what its patch sets the factor's key to stands for that value.

        So `"4" = { clients = 4, … }` is the number 4, as it would be in a list of levels.
        """
        at: Any = patch
        for part in key_path(self.key or self.name):
            at = at.get(part) if isinstance(at, dict) else None
        return at if isinstance(at, int | float) and scalar_text(at) == label else label

    def _patch_of(self, value: Scalar) -> dict[str, Any]:
        if self.patch is not None:
            return dict(substitute(self.patch, value))
        patch: Any = value
        for part in reversed(key_path(self.key or self.name)):
            patch = {part: patch}
        return dict(patch)


def _margin(value: object) -> object:
    if isinstance(value, str) and (m := re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*%\s*", value)):
        return float(m[1]) / 100
    if isinstance(value, str):
        raise ValueError(  # noqa: TRY004 - pydantic turns a ValueError into a sentence
            'a margin is written as a percentage, for example "1%"'
        )
    return value


class UntilDecided(_Strict):
    """Go on adding blocks until every asked contrast is decided, or the budget is spent.

    `responses` are those whose contrasts are asked; by default TPS and counted instructions, where
    they were recorded. `budget_s` is wall time, summed over all sessions of the run; `most_blocks`
    is how many blocks are laid out. The first look is taken after the study's `blocks`.
    """

    budget_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 7200.0
    responses: tuple[str, ...] = ()
    most_blocks: Annotated[int, Field(ge=2, le=10_000)] = 200

    @field_validator("responses")
    @classmethod
    def _responses_are_known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _known_responses(value)


def _known_responses(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in RESPONSES and name not in GROUPS:
            raise ValueError(
                f"{name!r} is no response; known are {', '.join([*GROUPS, *RESPONSES])}"
            )
    return names


class Study(_Strict):
    """A question about PostgreSQL, the set-up that answers it, and the factors that vary.

    `scripts` maps the names of load scripts to their text; names that are not in it are files.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    title: dict[str, str]
    question: dict[str, str] = {}
    blocks: Annotated[int, Field(ge=1, le=10_000)]
    seed: Annotated[int, Field(ge=0)]
    responses: tuple[str, ...] = ("tps", "latency_mean_ms", "instructions_per_tx")
    margin: Annotated[float, Field(gt=0, lt=1), BeforeValidator(_margin)] = 0.01
    until_decided: UntilDecided | None = None
    pgbench: str = "pypi:18.6"
    scripts: dict[str, str] = {}
    setup: dict[str, Any]
    factor: Annotated[tuple[Factor, ...], Field(min_length=1)]

    @field_validator("title")
    @classmethod
    def _title_has_english(cls, value: dict[str, str]) -> dict[str, str]:
        if "en" not in value:
            raise ValueError('a title needs at least English: title = { en = "…" }')
        return value

    @field_validator("responses")
    @classmethod
    def _responses_are_known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _known_responses(value)

    @model_validator(mode="after")
    def _factor_names_are_distinct(self) -> Self:
        names = [f.name for f in self.factor]
        if len(set(names)) != len(names):
            raise ValueError(f"two factors have the same name ({', '.join(names)})")
        return self

    @model_validator(mode="after")
    def _blocks_before_the_first_look_are_laid_out(self) -> Self:
        if self.until_decided is not None and self.until_decided.most_blocks < self.blocks:
            raise ValueError(
                f"until_decided.most_blocks = {self.until_decided.most_blocks} is less than the "
                f"{self.blocks} blocks that are run before the first look"
            )
        return self

    @property
    def laid_out_blocks(self) -> int:
        """How many blocks the plan has: `blocks`, or as many as may be run until decided."""
        return self.blocks if self.until_decided is None else self.until_decided.most_blocks

    def text(self, field: Literal["title", "question"], language: str = "en") -> str:
        """Title or question in `language`, else in English, else empty."""
        words: dict[str, str] = getattr(self, field)
        return words.get(language) or words.get("en", "")

    def asked_responses(self) -> tuple[str, ...]:
        """The responses that the study asks about, groups written out."""
        return expand(self.responses)

    def setup_of(self, levels: tuple[Level, ...]) -> Setup:
        """The set-up of a treatment: the study's own, patched by each level in turn."""
        patched = dict(self.setup)
        for level in levels:
            patched = merge(patched, level.patch)
        return Setup.model_validate(patched)
