"""Dates without a library: calendars, spans, times and text forms."""
