"""Which method concludes a run: by how it was run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teiten.analysis.cautions import find_cautions
from teiten.analysis.conclusions import Conclusions
from teiten.analysis.deciding import conclude_always_valid
from teiten.analysis.trials import response_groups
from teiten.analysis.verdicts import fixed_verdicts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teiten.archive import TrialRecord
    from teiten.study import Study


def conclude(study: Study, records: Sequence[TrialRecord]) -> Conclusions:
    """Every verdict of a run's trials, and what they do not allow for.

    A run that went on until it was decided was looked at after every block: only always-valid
    inference holds for it.
    """
    groups = response_groups(study, records)
    verdicts = (
        fixed_verdicts(groups, study.margin)
        if study.until_decided is None
        else conclude_always_valid(study, records)
    )
    return Conclusions(study.margin, verdicts, find_cautions(study, records, groups))
