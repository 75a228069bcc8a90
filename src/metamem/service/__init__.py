"""The memory service: what many agents remember, share and recall."""
