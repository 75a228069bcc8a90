"""Designs that were learned, one file for each domain, with what is known of them at the top.

They are read as text and run in the jail like any other: nothing here is imported.
"""
