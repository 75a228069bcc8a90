"""The decision to put something into use: the gate, the ledger of decisions, and their undo."""

from metamem.promotion.contents import Contents, IsThere, parameters_id, policy_id
from metamem.promotion.evidence import ExactShare, Finding, PairedGain, RuleOfEvidence
from metamem.promotion.gate import Decision, Gate, GateComparison, GateReport
from metamem.promotion.ledger import AUTOMATON, GATE, Ledger, is_automaton, needs_person
from metamem.promotion.parameters import Bounds
from metamem.promotion.standing import Standing, standing
from metamem.promotion.under import AGREED, Under

__all__ = [
    "AGREED",
    "AUTOMATON",
    "GATE",
    "Bounds",
    "Contents",
    "Decision",
    "ExactShare",
    "Finding",
    "Gate",
    "GateComparison",
    "GateReport",
    "IsThere",
    "Ledger",
    "PairedGain",
    "RuleOfEvidence",
    "Standing",
    "Under",
    "is_automaton",
    "needs_person",
    "parameters_id",
    "policy_id",
    "standing",
]
