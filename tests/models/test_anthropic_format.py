"""Anthropic's messages format, against a server on loopback that speaks it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from metamem.core.chat import Question, Site, Turn, Usage
from metamem.core.errors import ModelFault
from metamem.models.base import Fault
from metamem.models.broker import Broker
from metamem.models.config import ModelConfig
from metamem.store.sqlite import SqliteArchive

USAGE = {
    "input_tokens": 10,
    "cache_read_input_tokens": 30,
    "cache_creation_input_tokens": 5,
    "output_tokens": 7,
}
PERSON = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@asynccontextmanager
async def server(content: Any, status: int = 200) -> AsyncIterator[tuple[str, list[Any]]]:
    """Answers every request with the same content; keeps paths, headers and bodies."""
    asked: list[Any] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = dict(x.split(": ", 1) for x in head.lower().split("\r\n")[1:] if ": " in x)
        body = json.loads(await reader.readexactly(int(lines["content-length"])))
        asked.append((head.split()[1], lines, body))
        said = json.dumps({"content": content, "usage": USAGE}).encode()
        writer.write(f"HTTP/1.1 {status} X\r\ncontent-length: {len(said)}\r\n\r\n".encode() + said)
        await writer.drain()
        writer.close()

    running = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{running.sockets[0].getsockname()[1]}/v1", asked
    finally:
        running.close()


def opened(url: str, effort: str = "") -> Any:
    return ModelConfig().open(f"anthropic:claude-x{effort}@{url}")


async def test_a_question_and_its_answer() -> None:
    text = [{"type": "text", "text": "Good "}, {"type": "text", "text": "day."}]
    async with server(text) as (url, asked):
        turns = (Turn("system", "Be kind."), Turn("user", "Hello"), Turn("assistant", "Yes?"))
        question = Question((*turns, Turn("user", "Well?")), max_tokens=50, temperature=0.2)
        answer = await opened(url).complete(question)
    assert answer.text == "Good day."
    assert answer.usage == Usage(input=45, output=7, cached=30)
    path, headers, body = asked[0]
    assert path == "/v1/messages" and headers["anthropic-version"] == "2023-06-01"
    assert body["system"][0]["text"] == "Be kind."
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert [m["role"] for m in body["messages"]] == ["user", "assistant", "user"]
    assert (body["max_tokens"], body["temperature"]) == (50, 0.2)
    assert "thinking" not in body


async def test_a_schema_is_a_tool_that_must_be_used(tmp_path: Path) -> None:
    used = [{"type": "tool_use", "name": "answer", "input": {"name": "Ada"}}]
    async with server(used) as (url, asked):
        with SqliteArchive(tmp_path / "archive.db") as archive:
            broker = Broker(archive, {"memory": [opened(url)]}, run_id="r")
            question = Question((Turn("user", "Who?"),), schema=PERSON)
            assert (await broker.ask(Site("memory"), question)).value == {"name": "Ada"}
            await broker.close()
            (spent,) = archive.spending("r")
    assert spent.usage == Usage(input=45, output=7, cached=30)
    body = asked[0][2]
    assert body["tools"][0]["input_schema"] == PERSON
    assert body["tool_choice"] == {"type": "tool", "name": "answer"}


@pytest.mark.parametrize(
    ("effort", "most", "share"), [("/low", 4096, 1024), ("/high", 4096, 2048), ("/low", 500, None)]
)
async def test_thoughts_are_part_of_the_limit(effort: str, most: int, share: int | None) -> None:
    async with server([{"type": "text", "text": "x"}]) as (url, asked):
        question = Question((Turn("user", "Think."),), max_tokens=most, temperature=0.5)
        await opened(url, effort).complete(question)
    body = asked[0][2]
    assert body["max_tokens"] == most
    assert body.get("thinking", {}).get("budget_tokens") == share
    assert ("temperature" in body) == (share is None)


@pytest.mark.parametrize("content", [None, "text", [1], {"a": 1}])
async def test_an_answer_of_another_shape_is_a_fault(content: Any) -> None:
    async with server(content) as (url, _):
        with pytest.raises(Fault):
            await opened(url).complete(Question((Turn("user", "Hello"),)))


async def test_a_key_goes_in_its_own_header_and_a_refusal_is_final(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "secret-key")
    async with server([], status=401) as (url, asked):
        name = f"anthropic:claude-x@{url}"
        model = ModelConfig(options={name: {"key": "MY_KEY"}}).open(name)
        with SqliteArchive(tmp_path / "archive.db") as archive:
            broker = Broker(archive, {"agent": [model]})
            with pytest.raises(ModelFault, match="401"):
                await broker.ask(Site("agent"), Question((Turn("user", "Hello"),)))
            await broker.close()
    assert len(asked) == 1 and asked[0][1]["x-api-key"] == "secret-key"
