"""Deployed tools among those of the MCP server, for as long as they are in use.

They are listed anew with every request, and their names begin so that none of them can stand for another tool.
A client on stdin and stdout is told when the list has changed, and goes on meanwhile; over HTTP, where every
request stands for itself, whoever asks again sees it.
"""

import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged
from mcp.types import CallToolResult, InputRequiredResult, TextContent, Tool, ToolAnnotations
from pydantic import ValidationError

from metamem.core.access import Caller
from metamem.core.errors import MetamemError, UsageError
from metamem.core.secrets import redact
from metamem.foundry.tools.running import Ran
from metamem.foundry.tools.runs import PREFIX
from metamem.foundry.tools.telling import in_words, schema
from metamem.foundry.tools.toolbox import Offered, Toolbox
from metamem.service.problems import problem

Requested = ServerRequestContext[Any, Any]
Count = Callable[[str, str, float], None]  # verb, outcome, seconds
LOOK_EVERY = 1.0  # seconds between two looks at whether something has changed
FOLDER = "project_folder"  # the argument that says where, where a server does not know it
_FOLDER = {
    "type": "string",
    "description": "The folder that you work in: the whole path of a folder of the project.",
}
_now: ContextVar[Requested] = ContextVar("request")


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, for which scopes, and where; no folder where the caller has to say it."""

    caller: Caller
    scopes: tuple[str, ...]
    folder: Path | None


@dataclass(frozen=True, slots=True)
class Face:
    """`asker` says of each request who it is from, or None where whoever it is may use no tools."""

    toolbox: Toolbox
    asker: Callable[[Requested], Asker | None]

    def listed(self, context: Requested) -> list[Tool]:
        asker = self.asker(context)
        if asker is None:
            return []
        found = self.toolbox.offered(asker.caller, asker.scopes)
        return [_tool(each, asker.folder is None) for each in found]

    async def called(self, context: Requested, name: str, values: dict[str, Any]) -> Ran:
        asker = await anyio.to_thread.run_sync(self.asker, context)
        if asker is None:
            raise UsageError("this server runs tools for whoever it runs as, and for nobody else")
        folder = asker.folder or Path(str(values.pop(FOLDER, "")))
        if not folder.is_absolute():
            raise UsageError(f"{FOLDER} must be the whole path of a folder")
        offered = await anyio.to_thread.run_sync(
            self.toolbox.find, asker.caller, asker.scopes, name
        )
        return await self.toolbox.run(asker.caller, offered, folder, values)


class ServerWithTools(MCPServer[Any]):
    """An MCP server with tools of its own, and those that are deployed."""

    def __init__(self, face: Face | None, count: Count, **given: Any) -> None:
        self._bus = InMemorySubscriptionBus()
        super().__init__(**given, subscriptions=self._bus, middleware=[self._note])
        self._face, self._count = face, count
        self._session: ServerSession | None = None

    async def list_tools(self) -> list[Tool]:
        known = await super().list_tools()
        if self._face is None:
            return known
        return [*known, *await anyio.to_thread.run_sync(self._face.listed, _now.get())]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        if self._face is None or not name.startswith(PREFIX):
            return await self._own(name, arguments, context)
        began, outcome = time.perf_counter(), "bug"
        try:
            ran = await self._face.called(_now.get(), name, dict(arguments))
            outcome = "ok"
            return _result(ran)
        except MetamemError as error:
            outcome = problem(error).name
            raise ToolError(str(error).encode("utf-8", "backslashreplace").decode()) from error
        finally:
            self._count("run_tool", outcome, time.perf_counter() - began)

    async def _own(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None
    ) -> CallToolResult | InputRequiredResult:
        """A tool that is always there. What it does not know is refused by its name, so that nothing
        is taken for left out; and what an error quotes holds no secret."""
        try:
            tool = self._tool_manager.get_tool(name)
            known = tool.parameters.get("properties", {}) if tool is not None else arguments
            for given in arguments:
                if given not in known:
                    raise ToolError(
                        f"{name} has no argument {given[:100]!r}; known: {', '.join(known)}"
                    )
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            raise ToolError(redact(_in_short(name, error)).text) from error

    async def run_stdio_async(self) -> None:
        """Serve until stdin closes, and say when the list of tools has changed."""
        server = self._lowlevel_server
        options = server.create_initialization_options(NotificationOptions(tools_changed=True))
        async with anyio.create_task_group() as group, stdio_server() as (reads, writes):
            if self._face is not None:
                group.start_soon(self._tell_changes, self._face.toolbox)
            await server.run(reads, writes, options)
            group.cancel_scope.cancel()

    async def _tell_changes(self, toolbox: Toolbox) -> None:
        before = await anyio.to_thread.run_sync(toolbox.mark)
        while True:
            await anyio.sleep(LOOK_EVERY)
            now = await anyio.to_thread.run_sync(toolbox.mark)
            if now != before:
                before = now
                await self._bus.publish(ToolsListChanged())  # for clients of today,
                if self._session is not None:  # and for those before
                    await self._session.send_tool_list_changed()

    async def _note(self, ctx: Requested, call_next: CallNext) -> HandlerResult:
        self._session = ctx.session
        _now.set(ctx)
        return await call_next(ctx)


def _in_short(name: str, error: ToolError) -> str:
    """An error in the words of whoever called: what is wrong with which argument, and no more."""
    wrong = error.__cause__
    if not isinstance(wrong, ValidationError):
        return str(error)
    found = wrong.errors(include_url=False, include_input=False, include_context=False)
    said = (f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}" for each in found)
    return f"{name} cannot be called so: {'; '.join(said)}"


def _tool(offered: Offered, asks_folder: bool) -> Tool:
    tool = offered.deployed.kept.tool
    asked = schema(tool)
    if asks_folder:
        asked["properties"] = {**asked["properties"], FOLDER: _FOLDER}
        asked["required"] = [*asked["required"], FOLDER]
    hints = ToolAnnotations(read_only_hint=False, open_world_hint=False)
    return Tool(
        name=offered.name, description=in_words(tool), input_schema=asked, annotations=hints
    )


def _result(ran: Ran) -> CallToolResult:
    text = ran.text().encode("utf-8", "backslashreplace").decode()
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content={"run": ran.run, "exit_code": ran.exit_code, "disabled": ran.disabled},
        is_error=not ran.worked,
    )
