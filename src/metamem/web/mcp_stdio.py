"""MCP on stdin and stdout, for the config of an agent: over a folder of one's own, or a server."""

from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import anyio

from metamem.foundry.tools.toolbox import Toolbox
from metamem.service.administers import Connected
from metamem.service.connecting import LocalMemories
from metamem.service.defaults import Defaults
from metamem.web import mcp, mcp_knowledge
from metamem.web.mcp_tools import Asker, Face


def serve(memories: Connected, folder: Path | None = None) -> None:
    """Serve until stdin closes. While it does, stdout is the protocol's alone. Tools are run where
    their files are: over a memory of one's own, and not for one that is a server's."""
    here = folder or Path.cwd()
    with ExitStack() as stack:
        face = None
        if isinstance(memories, LocalMemories):
            toolbox = stack.enter_context(closing(Toolbox(memories.service)))
            face = Face(toolbox, _asker(memories, here))
        made = mcp.server(lambda _: Defaults(memories, here), lambda *_: None, face)
        mcp_knowledge.add(made, here)
        anyio.run(made.run_stdio_async)


def _asker(memories: LocalMemories, here: Path) -> Callable[[Any], Asker]:
    def asker(_: Any) -> Asker:
        return Asker(memories.caller, Defaults(memories, here).read(), here)

    return asker
