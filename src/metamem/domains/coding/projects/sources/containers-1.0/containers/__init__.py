"""Containers: caches, queues, and helpers for lists and dictionaries."""
