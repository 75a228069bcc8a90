"""Deployed tools over MCP: listed where they belong, hot in a running session, run in the caller's tree alone."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from metamem.foundry.tools.runs import runs
from metamem.foundry.tools.tool import Given
from metamem.sandbox import bubblewrap
from tests.extras import needs
from tests.foundry.tools.made import tree
from tests.foundry.tools.shop import Shop, opened

needs("mcp")
needs("fastapi")
from mcp import Client, ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ToolListChangedNotification

from tests.web.serving import make_key, start

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not bubblewrap.works(), reason="bwrap does not work here"),
]
GREETS = "import json, sys; v = json.load(sys.stdin); print('hello', v['name']); sys.exit(v['name'] == 'x')"
NAME = Given("name", "text", True, ("Ada",))
SIX = ["recall", "remember", "forget", "feedback", "briefing", "why"]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with opened(tmp_path, sessions=0) as made:
        yield made


def command(shop: Shop) -> StdioServerParameters:
    arguments = ["-m", "metamem.cli.main", "mcp", "--memory", str(shop.memory)]
    return StdioServerParameters(
        command=sys.executable, args=arguments, cwd=str(shop.folder), env=dict(os.environ)
    )


async def names(client: Any) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


async def test_a_running_session_is_told_and_goes_on(shop: Shop) -> None:
    """A client of the handshake's times, as hosts are: it is told of each change by a notification."""
    changed = asyncio.Event()

    async def heard(message: Any) -> None:
        if isinstance(getattr(message, "root", message), ToolListChangedNotification):
            changed.set()

    async with (
        stdio_client(command(shop)) as (reads, writes),
        ClientSession(reads, writes, message_handler=heard) as session,
    ):
        begun = await session.initialize()
        assert begun.capabilities.tools is not None and begun.capabilities.tools.list_changed
        assert await names(session) == SIX
        tool = shop.plant(GREETS, "greet", NAME)
        await asyncio.wait_for(changed.wait(), 30)
        assert await names(session) == [*SIX, "tool_greet"]
        listed = (await session.list_tools()).tools[-1]
        assert listed.input_schema["required"] == ["name"] and "Does greet." in listed.description
        done = await session.call_tool("tool_greet", {"name": "Ada"})
        assert not done.is_error and "hello Ada" in done.content[0].text
        assert done.structured_content["run"] in done.content[0].text
        failed = await session.call_tool("tool_greet", {"name": "x"})
        assert failed.is_error and "exit code 1" in failed.content[0].text
        assert not (await session.call_tool("recall", {"query": "anything"})).is_error
        changed.clear()
        shop.foundry.undo(tool, by="Ada", reason="rude")
        await asyncio.wait_for(changed.wait(), 30)
        assert await names(session) == SIX
        gone = await session.call_tool("tool_greet", {"name": "Ada"})
        assert gone.is_error and "out of use: rude" in gone.content[0].text
    with shop.site.database.reading() as execute:
        ((slot,),) = execute("SELECT DISTINCT slot FROM tool_runs")
        assert [run.worked for run in runs(execute, shop.site.number, slot)] == [True, False]


async def test_it_cannot_stand_for_another_tool(shop: Shop) -> None:
    shop.plant("print('evil')", "recall")
    async with Client(command(shop)) as client:
        assert await names(client) == [*SIX, "tool_recall"]
        found = await client.call_tool("recall", {"query": "anything"})
        assert "evil" not in found.content[0].text


async def test_another_project_does_not_see_it(shop: Shop, tmp_path: Path) -> None:
    shop.plant(GREETS, "greet", NAME)
    elsewhere = command(shop).model_copy(update={"cwd": str(tree(tmp_path / "other"))})
    async with Client(elsewhere) as client:
        assert await names(client) == SIX
        refused = await client.call_tool("tool_greet", {"name": "Ada"})
        assert refused.is_error and "no tool called" in refused.content[0].text


@asynccontextmanager
async def over_http(url: str, key: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx.AsyncClient(headers=headers, trust_env=False, timeout=60) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        yield client


async def test_over_http_for_whoever_the_server_runs_as(shop: Shop, tmp_path: Path) -> None:
    mine = make_key(shop.memory)
    from metamem.service.connecting import connect

    with connect(shop.memory) as memories:
        memories.administration.add_person("bo")
        memories.administration.share(str(shop.site.scope), "shared")
        memories.administration.grant(str(shop.site.scope), "bo", "writer")
        others = memories.administration.make_key("bo").secret
    served = start(shop.memory)
    try:
        async with over_http(served.url, mine) as client:
            assert await names(client) == SIX
            shop.plant(GREETS, "greet", NAME)
            assert await names(client) == [*SIX, "tool_greet"]  # whoever asks again sees it
            given = {"name": "Ada", "project_folder": str(shop.folder)}
            done = await client.call_tool("tool_greet", given)
            assert not done.is_error and "hello Ada" in done.content[0].text
            for folder in (str(tree(tmp_path / "other")), "/", "relative", ""):
                refused = await client.call_tool("tool_greet", given | {"project_folder": folder})
                assert refused.is_error and "hello" not in refused.content[0].text
        async with over_http(served.url, others) as client:
            assert await names(client) == SIX  # a writer of the scope, and somebody else
            refused = await client.call_tool("tool_greet", given)
            assert (
                refused.is_error and "runs tools for whoever it runs as" in refused.content[0].text
            )
    finally:
        served.stop()
        if served.process.stdout:
            served.process.stdout.close()
