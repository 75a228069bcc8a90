"""Memories as the host keeps them: a running design, the log it learns from, and its snapshots."""
