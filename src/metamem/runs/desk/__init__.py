"""Where drafts of a run's work are checked, tried and handed in, from files or over MCP."""
