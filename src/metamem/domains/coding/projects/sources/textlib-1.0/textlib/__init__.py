"""Cleaning, measuring and laying out text."""
