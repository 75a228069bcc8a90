"""Foundry on sessions that others recorded: what it finds there, and how much of that is right."""
