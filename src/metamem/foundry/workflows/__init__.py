"""Workflows: what agents repeat, found in their traces, with parameters where it differs."""
