"""A seventh domain, made apart from the search so that it can tell whether learning generalises."""
