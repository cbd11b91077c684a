"""Treatments, blocks and a random order from a recorded seed. Pure."""

from teiten.plan.design import Plan, PlannedTrial, Treatment, make_plan

__all__ = ["Plan", "PlannedTrial", "Treatment", "make_plan"]
