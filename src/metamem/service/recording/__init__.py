"""Between an MCP client and its server: every byte passes, and calls of tools are kept."""
