"""The study: what is asked, as data."""

from teiten.study.loading import catalog_names, load_study, parse_study, study_json_schema
from teiten.study.model import (
    ExistingData,
    Factor,
    Level,
    PgbenchData,
    PgbenchLoad,
    Setup,
    Study,
)

__all__ = [
    "ExistingData",
    "Factor",
    "Level",
    "PgbenchData",
    "PgbenchLoad",
    "Setup",
    "Study",
    "catalog_names",
    "load_study",
    "parse_study",
    "study_json_schema",
]
