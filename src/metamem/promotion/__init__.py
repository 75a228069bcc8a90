"""The decision to put something into use: the gate, the ledger of decisions, and their undo."""

from metamem.promotion.evidence import ExactShare, Finding, PairedGain, RuleOfEvidence
from metamem.promotion.gate import Decision, Gate, GateComparison, GateReport
from metamem.promotion.ledger import Ledger, needs_person
from metamem.promotion.parameters import Bounds
from metamem.promotion.standing import Standing, standing

__all__ = [
    "Bounds",
    "Decision",
    "ExactShare",
    "Finding",
    "Gate",
    "GateComparison",
    "GateReport",
    "Ledger",
    "PairedGain",
    "RuleOfEvidence",
    "Standing",
    "needs_person",
    "standing",
]
