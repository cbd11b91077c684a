"""The study: what is asked, as data."""

from teiten.study.loading import (
    catalog_names,
    go_on_until_decided,
    load_study,
    parse_study,
    study_json_schema,
)
from teiten.study.model import (
    ExistingData,
    Factor,
    Level,
    PgbenchData,
    PgbenchLoad,
    Setup,
    Study,
    UntilDecided,
)

__all__ = [
    "ExistingData",
    "Factor",
    "Level",
    "PgbenchData",
    "PgbenchLoad",
    "Setup",
    "Study",
    "UntilDecided",
    "catalog_names",
    "go_on_until_decided",
    "load_study",
    "parse_study",
    "study_json_schema",
]
