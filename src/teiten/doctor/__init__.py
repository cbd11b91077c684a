"""Is this host fit to measure on, and if not, what to do: `diagnose(examine())`."""

from __future__ import annotations

from teiten.doctor.diagnosis import Finding, diagnose
from teiten.doctor.examination import examine
from teiten.doctor.facts import Facts

__all__ = ["Facts", "Finding", "diagnose", "examine"]
