"""Families of tasks, each in its own folder or file; the registry knows them by name."""
