"""The decision to put a design into use: one gate, on tasks the search never saw."""

from metamem.promotion.gate import Decision, Gate, GateComparison, GateReport

__all__ = ["Decision", "Gate", "GateComparison", "GateReport"]
