"""What another policy would have been worth, from a log of decisions and their propensities."""

from metamem.evaluation.offpolicy.estimates import (
    FEW,
    Decided,
    Estimate,
    Odds,
    difference,
    doubly_robust,
    ips,
    refuse,
    snips,
)

__all__ = [
    "FEW",
    "Decided",
    "Estimate",
    "Odds",
    "difference",
    "doubly_robust",
    "ips",
    "refuse",
    "snips",
]
