"""Household tasks in text: a fast engine for ALFWorld games, and a generator of own games."""
