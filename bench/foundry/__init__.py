"""A tool world of our own, an agent without a model in it, and what Foundry makes of its work."""
