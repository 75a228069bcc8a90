"""Addresses, queries, headers and responses, without a network."""
