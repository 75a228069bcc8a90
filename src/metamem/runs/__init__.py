"""Whole runs: their settings, the conditions they play under, what they come to and how it is told."""
