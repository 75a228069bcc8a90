"""Designs that people wrote: what a learned one must beat. Read as text, run in the jail."""
