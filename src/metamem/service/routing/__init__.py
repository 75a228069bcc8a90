"""Routing for the callers of a memory service: decisions belong to scopes, as all else does."""
