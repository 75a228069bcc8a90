"""A model server on loopback that speaks OpenAI's format and misbehaves as it is told to."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from metamem.core.chat import Question, Turn
from metamem.core.tokens import count_tokens
from metamem.models.scripted import demo

Answer = Callable[[Question], str]
# What happens to the n-th request: "" is an honest answer.
Mood = Callable[[int], str]
MOODS = ("429", "500", "slow", "cut", "nonsense", "list", "shape", "empty", "huge")
# Of answers to /embeddings, which are billed all the same.
VECTOR_MOODS = ("too few", "ragged", "shorter", "nan", "zero", "words", "twice")
WIDTH = 16


@dataclass
class Tally:
    """What the server knows it did."""

    requests: int = 0
    answered: int = 0  # honest answers that went out whole
    input: int = 0  # tokens of all that were answered, empty answers included
    output: int = 0
    at_once: int = 0
    most_at_once: int = 0
    keys: set[str] = field(default_factory=set)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    texts: Counter[str] = field(default_factory=Counter)  # embedded, and how often


class Endpoint:
    """`async with Endpoint() as server: ... server.url`. Bound to 127.0.0.1, any free port."""

    def __init__(
        self,
        mood: Mood = lambda number: "",
        answer: Answer = demo,
        slow_seconds: float = 5.0,
        keep_bodies: bool = False,
        answer_seconds: float = 0.0,
    ) -> None:
        self.tally = Tally()
        self._mood, self._answer, self._slow, self._keep = mood, answer, slow_seconds, keep_bodies
        self._server: asyncio.Server | None = None
        self._answer_seconds = answer_seconds

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=1 << 24)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                lines = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
                body = json.loads(await reader.readexactly(int(lines["content-length"])))
                self.tally.keys.add(lines.get("authorization", ""))
                path = head.split(" ", 2)[1]
                if not await self._serve(path, body, writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _serve(self, path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> bool:
        tally = self.tally
        number, tally.requests = tally.requests, tally.requests + 1
        if self._keep:
            tally.bodies.append(body)
        tally.at_once += 1
        tally.most_at_once = max(tally.most_at_once, tally.at_once)
        try:
            mood = self._mood(number)
            if mood.isdigit():
                said = {"error": f"no, {body['model']}: {sorted(tally.keys)}"}
                await _send(writer, int(mood), said, {"retry-after": "0"})
            elif mood == "nonsense":
                await _send(writer, 200, b"<html>not json")
            elif mood == "list":
                await _send(writer, 200, [1, 2])
            elif mood == "shape":
                await _send(writer, 200, {"choices": []})
            elif mood == "huge":
                await _send(writer, 200, b"x" * (9 << 20))
            elif mood == "slow":
                await asyncio.sleep(self._slow)
                return False
            elif mood == "cut":
                writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n{"choices": [')
                await writer.drain()
                return False
            elif path.endswith("/embeddings"):
                await asyncio.sleep(self._answer_seconds)
                await _send(writer, 200, self._embeddings(body["input"], mood))
            else:
                await asyncio.sleep(self._answer_seconds)
                text = "" if mood == "empty" else self._answer(_question(body))
                usage = _usage(body, text)
                tally.input += usage["prompt_tokens"]
                tally.output += usage["completion_tokens"]
                tally.answered += mood != "empty"
                message = {"role": "assistant", "content": text}
                await _send(writer, 200, {"choices": [{"message": message}], "usage": usage})
            return True
        finally:
            tally.at_once -= 1

    def _embeddings(self, texts: list[str], mood: str) -> dict[str, Any]:
        """In no particular order, as the format allows; unlike OpenAI's, not of length one."""
        items = [{"index": n, "embedding": vector(text)} for n, text in enumerate(texts)]
        tokens = sum(map(text_tokens, texts))
        self.tally.input += tokens
        if mood == "other":  # honest, but not what another request would get
            for item in items:
                item["embedding"][0] += 1.0
        elif mood:
            _spoil(items, mood)
        if mood in ("", "other"):
            self.tally.answered += 1
            self.tally.texts.update(texts)
        return {"data": items[::-1], "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}


def vector(text: str) -> list[float]:
    """Any text has its own, always the same."""
    rng = random.Random(text)
    return [rng.uniform(-3, 3) for _ in range(WIDTH)]


def text_tokens(text: str) -> int:
    return max(1, count_tokens(text))


def _spoil(items: list[dict[str, Any]], mood: str) -> None:
    last = items[-1]["embedding"]
    if mood in ("too few", "empty"):
        del items[0 if mood == "empty" else -1 :]
    elif mood == "ragged":
        last.append(1.0)
    elif mood == "shorter":
        for item in items:
            del item["embedding"][-1]
    elif mood == "nan":
        last[0] = float("nan")
    elif mood == "zero":
        last[:] = [0.0] * WIDTH
    elif mood == "words":
        last[:] = ["0.5"] * WIDTH
    elif mood == "twice":
        items.append(dict(items[0]))


def _question(body: dict[str, Any]) -> Question:
    turns = tuple(Turn(m["role"], m["content"]) for m in body["messages"])
    wanted = body.get("response_format", {}).get("json_schema", {}).get("schema")
    choices = tuple(body.get("structured_outputs", {}).get("choice", ()))
    return Question(turns, wanted, choices, body.get("max_tokens", 16))


def _usage(body: dict[str, Any], text: str) -> dict[str, Any]:
    asked = sum(count_tokens(m["content"]) for m in body["messages"])
    return {
        "prompt_tokens": asked,
        "completion_tokens": count_tokens(text),
        "prompt_tokens_details": {"cached_tokens": asked // 2},
        "completion_tokens_details": {"reasoning_tokens": 1 if text else 0},
    }


async def _send(
    writer: asyncio.StreamWriter,
    status: int,
    content: Any,
    headers: dict[str, str] | None = None,
) -> None:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    lines = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        **(headers or {}),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    writer.write(f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + body)
    await writer.drain()
