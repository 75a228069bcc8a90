"""Recall: from a question to facts, ranked, budgeted and explained."""
