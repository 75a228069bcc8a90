"""Writing: from what somebody wants remembered to what is kept."""
