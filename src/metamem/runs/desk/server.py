"""The desk as an MCP server on stdin and stdout. Needs the extra `metamem[mcp]`."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

import metamem
from metamem import __version__
from metamem.core.aside import aside
from metamem.core.errors import MetamemError
from metamem.runs.desk.desk import Desk
from metamem.runs.desk.quick import TASKS
from metamem.search.handoff.proposer import skill

LONGEST_WAIT = 600.0
Number = Annotated[int, Field(description="The request's number, as `next` gave it.")]
Source = Annotated[
    str,
    Field(description="The design's whole code. Empty: what was checked last for this request."),
]
Wait = Annotated[
    float,
    Field(ge=0, le=LONGEST_WAIT, description="How long to wait at most, in seconds."),
]
WAIT = 50.0  # clients often give a call a minute


def serve(desk: Desk, on_ready: Callable[[], None]) -> None:
    """Serve until stdin closes. While it does, stdout is the protocol's alone."""

    @asynccontextmanager
    async def ready(_: MCPServer[None]) -> AsyncIterator[None]:
        on_ready()
        yield

    server = MCPServer(
        "metamem", version=__version__, instructions=skill(), lifespan=ready, log_level="WARNING"
    )
    trials = _Trials()
    for tool in _tools(desk, trials):
        server.add_tool(tool, structured_output=False)

    async def work() -> None:
        await server.run_stdio_async()
        await trials.end()

    anyio.run(work)


class _Trials:
    """Trials run in tasks of their own, so that one that is given up ends its processes in peace."""

    def __init__(self) -> None:
        self._going: set[asyncio.Task[dict[str, Any]]] = set()

    async def run(self, trial: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
        task = asyncio.create_task(trial)
        self._going.add(task)
        task.add_done_callback(self._going.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.cancel()
            raise

    async def end(self) -> None:
        for task in self._going:
            if not task.cancelling():  # a second time would end its tidying up
                task.cancel()
        await asyncio.gather(*self._going, return_exceptions=True)


def _tools(desk: Desk, trials: _Trials) -> list[Callable[..., Any]]:
    say = _Speaker(desk)

    def draft(number: int, source: str) -> str | bytes:
        if not source:
            return desk.source(number)
        desk.keep_draft(number, source)
        return source

    async def next(
        wait_seconds: Wait = WAIT,
        manual: Annotated[bool, Field(description="False once you have read it.")] = True,
    ) -> list[str]:
        """The next request: what to improve and all that is known about it."""
        with say:
            request = await desk.next(wait_seconds)
            request.pop("folder", None)
            names = []
            if request["number"] is not None:
                wanted = {"dossier.md": True, "failed.py": request["repair"], "manual.md": manual}
                names = [name for name, shown in wanted.items() if shown]
            texts = [desk.document(request["number"], name) for name in names]
            return [say.json(request), *map(say.text, texts)]

    async def read(
        number: Number,
        name: Annotated[str, Field(description="One of its documents, as `next` lists them.")],
    ) -> str:
        """A document of a request: an episode, the table of tasks, code."""
        with say:
            return say.text(desk.document(number, name))

    async def check(
        number: Number,
        source: Source = "",
        score: Annotated[
            bool, Field(description="Also play some tasks of train; bounded, see status.")
        ] = False,
        tasks: Annotated[int, Field(ge=2, le=1000, description="On how many, with score.")] = TASKS,
    ) -> str:
        """Try a draft in the jail: does it run, what does it say, is it new? Nothing is handed in."""
        with say:
            given = draft(number, source)
            return say.json(await trials.run(desk.check(number, given, tasks if score else 0)))

    async def submit(
        number: Number,
        note: Annotated[str, Field(description="What you changed, and why: a sentence or two.")],
        source: Source = "",
        wait_seconds: Wait = WAIT,
    ) -> str:
        """Hand in a design. It is evaluated and archived; the answer says what came of it."""
        with say:
            given = draft(number, source)
            return say.json(await desk.submit(number, given, note, wait_seconds))

    async def status() -> str:
        """Where the run stands, and what came of the last submissions."""
        with say:
            return say.json(await aside(desk.status))

    return [next, read, check, submit, status]


class _Speaker:
    """Says what the desk answers, and nothing of where things lie on this machine.

    Errors that somebody can act on reach the caller in their own words.
    """

    def __init__(self, desk: Desk) -> None:
        home = desk.place.root.parent.parent
        package = Path(metamem.__file__).parent
        homes = {str(home.resolve()), str(home.absolute()), str(home)} - {"."}
        longest_first = sorted(homes, key=len, reverse=True)
        self._names = dict.fromkeys(longest_first, "HOME") | {str(package): "METAMEM"}

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, MetamemError):
            raise ToolError(self.text(str(error))) from error

    def json(self, value: dict[str, Any]) -> str:
        return self.text(json.dumps(value, indent=1, ensure_ascii=False))

    def text(self, text: str) -> str:
        for path, name in self._names.items():
            text = text.replace(path, name)
        # What UTF-8 cannot hold would end the connection.
        return text.encode("utf-8", "backslashreplace").decode()
