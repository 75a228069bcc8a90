"""The memory service over the network: REST, MCP, health and metrics. Needs `metamem[serve]`."""
