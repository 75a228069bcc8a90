"""MCP on stdin and stdout, for the config of an agent: over a folder of one's own, or a server."""

from pathlib import Path

import anyio

from metamem.service.administers import Connected
from metamem.service.defaults import Defaults
from metamem.web import mcp


def serve(memories: Connected, folder: Path | None = None) -> None:
    """Serve until stdin closes. While it does, stdout is the protocol's alone."""
    here = folder or Path.cwd()
    made = mcp.server(lambda _: Defaults(memories, here), lambda *_: None)
    anyio.run(made.run_stdio_async)
