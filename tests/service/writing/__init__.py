"""Tests of what happens to a text before and while it is kept."""
