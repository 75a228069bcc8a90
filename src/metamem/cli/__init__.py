"""The command line: one file a command group, thin over the Python API."""
