"""Baba Is AI in text: an engine of its own, the levels of 51 ids, and a solver."""
