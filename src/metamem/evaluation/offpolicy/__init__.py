"""What another policy would have been worth, from a log of decisions and their propensities."""

from metamem.evaluation.offpolicy.estimates import (
    Decided,
    Estimate,
    Odds,
    difference,
    doubly_robust,
    ips,
    snips,
)
from metamem.evaluation.offpolicy.judging import Entry, Judged, judge

__all__ = [
    "Decided",
    "Entry",
    "Estimate",
    "Judged",
    "Odds",
    "difference",
    "doubly_robust",
    "ips",
    "judge",
    "snips",
]
