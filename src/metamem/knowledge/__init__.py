"""Repositories and notes, indexed and searched: no key, no network."""
