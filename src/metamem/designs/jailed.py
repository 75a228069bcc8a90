"""The host's side of a jailed design: `Jail` makes memories, `JailedMemory` is one of them."""

import asyncio
import base64
import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any

import numpy as np

from metamem.core.errors import DesignFailure, ModelRefused, ModelUnavailable, UsageError
from metamem.core.protocols import CallSite
from metamem.core.types import Design, Experience, Query
from metamem.core.waiting import Answer, Wait
from metamem.designs.limits import Limits
from metamem.designs.quickening import quickened
from metamem.designs.watched import PARTS
from metamem.models.embedders import AnyEmbedder, embed_texts
from metamem.sandbox.failures import GuestFailure
from metamem.sandbox.host import Program, Sandbox
from metamem.sandbox.limits import CallLimits
from metamem.sandbox.process import Process, RefusedByHost

NOWHERE = CallSite()
_MAX_TEXTS = 4096  # in one request for embeddings
# What designs commonly import: loaded once in a fork server, it costs them little. What brings
# libraries of its own (hashlib, statistics, uuid) is left to those that want it: every fork pays.
# fmt: off
_PRELOAD = (
    "metamem.designs",
    "metamem.designs.inside",
    "asyncio",
    "bisect",
    "collections",
    "copy",
    "dataclasses",
    "datetime",
    "difflib",
    "enum",
    "functools",
    "heapq",
    "itertools",
    "json",
    "math",
    "operator",
    "random",
    "re",
    "string",
    "textwrap",
    "time",
    "typing",
)
# fmt: on
# What costs every fork dearly, since a fork copies the tables of all pages in use: loaded only for
# designs whose source has one of these words. A design that hides its need still gets it, slowly.
_HEAVY = {
    "numpy": re.compile(r"\b(numpy|embed|vectors|Embedding|Chroma)\b"),
    "networkx": re.compile(r"\b(networkx|graph)\b"),
}
_MODULES = ("metamem.designs", *_HEAVY)


def _program(source: str) -> Program:
    heavy = tuple(module for module, words in _HEAVY.items() if words.search(source))
    return Program("metamem.designs.inside:serve", _MODULES, (*_PRELOAD, *heavy), ("snapshot",))


class Jail:
    """The memories of one host process. There is one fork server for all designs with like needs."""

    def __init__(
        self, limits: Limits | None = None, *, isolation: str = "auto", forks: bool = True
    ) -> None:
        self.limits = limits or Limits()
        self._isolation, self._forks = isolation, forks
        self._sandboxes: dict[Program, Sandbox] = {}
        self.sandbox = self.sandbox_for("")  # the plainest, where most designs run

    @property
    def isolation(self) -> str:
        return self.sandbox.isolation

    def sandbox_for(self, source: str) -> Sandbox:
        """The fork server that has loaded what this source needs; started when it is used."""
        program = _program(source)
        if program not in self._sandboxes:
            self._sandboxes[program] = Sandbox(
                program, isolation=self._isolation, forks=self._forks
            )
        return self._sandboxes[program]

    async def start(self) -> None:
        await self.sandbox.start()

    async def close(self) -> None:
        for sandbox in self._sandboxes.values():
            await sandbox.close()

    async def __aenter__(self) -> "Jail":
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        await self.close()

    async def open(
        self,
        design: Design,
        *,
        seed: int,
        embedder: AnyEmbedder,
        at: CallSite = NOWHERE,
        snapshot: bytes | None = None,
        limits: Limits | None = None,
    ) -> "JailedMemory":
        """Run a design: a fresh memory, or one with the state of a snapshot.

        `at` is the site of its opening, and of the calls that name none.
        """
        if design.kind != "code":
            raise UsageError("only a design that is code runs in the jail")
        memory = JailedMemory(self, design, seed, embedder, at, limits or self.limits)
        await memory.begin(snapshot)
        return memory


@dataclass(slots=True)
class CpuUse:
    """Seconds of CPU by operation (`open`, `update`, `retrieve`...), as the kernel counts them."""

    most: dict[str, float] = field(default_factory=dict)  # of one call
    total: dict[str, float] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)

    def add(self, operation: str, seconds: float) -> None:
        self.most[operation] = max(self.most.get(operation, 0.0), seconds)
        self.total[operation] = self.total.get(operation, 0.0) + seconds
        self.calls[operation] = self.calls.get(operation, 0) + 1

    def include(self, other: "CpuUse") -> None:
        for operation, calls in other.calls.items():
            most = max(self.most.get(operation, 0.0), other.most[operation])
            self.most[operation] = most
            self.total[operation] = self.total.get(operation, 0.0) + other.total[operation]
            self.calls[operation] = self.calls.get(operation, 0) + calls


@dataclass(slots=True)
class _Asking:
    """The model, as one call may still ask it."""

    at: CallSite
    left: int


class JailedMemory:
    """A running design. Calls are served one at a time, and each may change its state; a fork is a
    memory of its own."""

    def __init__(
        self,
        jail: Jail,
        design: Design,
        seed: int,
        embedder: AnyEmbedder,
        at: CallSite,
        limits: Limits,
    ) -> None:
        self.design = design
        self.limits = limits
        self.studies = False  # whether it learns from the lives of others; known once it is open
        self.model_calls = 0
        self.cpu = CpuUse()
        self._jail = jail
        self._sandbox = jail.sandbox_for(design.source)
        self._seed = seed
        self._embedder = embedder
        self._at = at
        self._process: Process | None = None
        self._turn = asyncio.Lock()

    @property
    def alive(self) -> bool:
        """Whether it can still be called: one that went over a limit cannot."""
        return self._process is not None and self._process.alive

    @property
    def logs(self) -> list[str]:
        return self._running.logs

    @property
    def tool_calls(self) -> int:
        return self._running.tool_calls

    @property
    def _running(self) -> Process:
        if self._process is None:
            raise UsageError("this memory is not open")
        return self._process

    async def begin(self, snapshot: bytes | None, reseed: int | None = None) -> None:
        """Make the process and load the design. Called by `Jail.open`."""
        state = None if snapshot is None else _unwrap(snapshot, self.design)
        self._process = await self._sandbox.spawn(self.limits.process)
        data = {
            "source": quickened(self.design.source),
            "seed": self._seed,
            "snapshot": state,
            "reseed": reseed,
        }
        try:
            told = await self._call("open", json.dumps(data), self.limits.update, self._at)
        except BaseException:
            await self.close()
            raise
        self.studies = isinstance(told, dict) and told.get("studies") is True

    async def retrieve(self, query: Query, at: CallSite | None = None) -> Any:
        """What the design advises: text, a JSON-able dict, or None."""
        return (await self.answer(query, at)).advice

    async def answer(
        self, query: Query, at: CallSite | None = None, *, watched: bool = False
    ) -> Answer:
        """What the design advises and waits for, and how long it took.

        Where it is watched, also which parts of the query it read; for copies that end after it.
        """
        data = json.dumps({"query": query.to_json(), "watched": watched})
        begun = time.perf_counter()
        value = await self._call("retrieve", data, self.limits.retrieve, at)
        seconds = time.perf_counter() - begun
        if not isinstance(value, list) or len(value) != 3:
            raise DesignFailure("the design's answer is not an answer", kind="protocol")
        advice, wait, read = value
        if advice is not None and not isinstance(advice, str | dict):
            raise DesignFailure("the design's advice is neither text nor a dict", kind="protocol")
        whole = not isinstance(read, list) or not PARTS.issuperset(map(str, read))
        parts = PARTS if whole else frozenset(map(str, read))
        return Answer(advice, None if wait is None else _wait_of(wait), seconds, parts)

    async def update(self, experience: Experience, at: CallSite | None = None) -> None:
        await self.update_encoded(json.dumps(experience.to_json()), at)

    async def update_encoded(self, line: str | bytes, at: CallSite | None = None) -> None:
        """Like `update`, for an experience that is JSON already (one line)."""
        await self._call("update", _one_line(line), self.limits.update, at)

    async def study_encoded(self, line: str, at: CallSite | None = None) -> None:
        """What another lived through: a list of experiences as one line of JSON."""
        await self._call("study", _one_line(line), self.limits.update, at)

    async def fork(self, seed: int | None = None) -> "JailedMemory":
        """An independent copy of the state; with a seed, the copy's luck is its own."""
        if not self._sandbox.can_fork:
            return await self._copy_by_snapshot(seed)
        child = self._sibling()
        async with self._turn:
            with _blaming_the_design():
                child._process = await self._sandbox.fork(
                    self._running, json.dumps(seed), self.limits.update
                )
        return child

    async def _copy_by_snapshot(self, seed: int | None) -> "JailedMemory":
        child = self._sibling()
        await child.begin(await self.snapshot(), reseed=seed)
        return child

    def _sibling(self) -> "JailedMemory":
        child = JailedMemory(
            self._jail, self.design, self._seed, self._embedder, self._at, self.limits
        )
        child.studies = self.studies
        return child

    async def snapshot(self) -> bytes:
        """The state as bytes that only a jail may open.

        Raises a DesignFailure of kind `snapshot` where the state cannot be saved: replay then.
        """
        state = await self._call("snapshot", "null", self.limits.snapshot)
        if not isinstance(state, str) or not state.isascii():
            raise DesignFailure("the design's snapshot is not a snapshot", kind="protocol")
        return _header(self.design) + state.encode()

    async def close(self) -> None:
        self.end()

    def end(self) -> None:
        """`close` for callers that are not coroutines."""
        if self._process is not None:
            self._process.kill()

    async def _call(
        self,
        operation: str,
        data: str,
        limits: CallLimits,
        at: CallSite | None = None,
    ) -> Any:
        asking = _Asking(at or self._at, self.limits.model_calls)
        async with self._turn:
            with _blaming_the_design():
                serve = partial(self._serve, asking)
                answer = await self._running.call(operation, data, limits, serve)
            self.cpu.add(operation, self._running.last_cpu)
            return answer

    # --- the tools the host serves ---

    async def _serve(self, asking: _Asking, tool: str, data: Any) -> Any:
        if tool == "embed" and isinstance(data, dict):
            return await self._embed(data.get("texts"))
        if tool == "llm" and isinstance(data, dict):
            prompt, schema, system = (data.get(key) for key in ("prompt", "schema", "system"))
            return await self._ask_model(asking, prompt, schema, system)
        raise GuestFailure("asked for a tool that there is not", "protocol")

    async def _embed(self, texts: Any) -> dict[str, Any]:
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise GuestFailure("embeds what is not a list of texts", "protocol")
        if len(texts) > _MAX_TEXTS:
            raise GuestFailure(f"embeds more than {_MAX_TEXTS} texts", "limit")
        rows = await embed_texts(self._embedder, texts, self.design.id)
        flat = np.ascontiguousarray(rows, dtype="<f4")
        return {"dimensions": rows.shape[1], "vectors": base64.b64encode(flat.tobytes()).decode()}

    async def _ask_model(self, asking: _Asking, prompt: Any, schema: Any, system: Any) -> Any:
        texts = isinstance(prompt, str) and isinstance(system, str)
        if not texts or not (schema is None or isinstance(schema, dict)):
            raise GuestFailure("asks a model with no prompt", "protocol")
        if asking.at.model is None:
            raise RefusedByHost("no model is configured")
        if not asking.left:
            raise GuestFailure(f"asked a model more than {self.limits.model_calls} times", "limit")
        asking.left -= 1
        self.model_calls += 1
        try:
            return await asking.at.model(prompt, schema, system)
        except (ModelUnavailable, ModelRefused, UsageError) as error:
            raise RefusedByHost(error.message) from error


@contextmanager
def _blaming_the_design() -> Iterator[None]:
    """A failure of the jail's guest is one of the design, in its own terms."""
    try:
        yield
    except GuestFailure as failure:
        if failure.kind == "closed":
            raise UsageError("this memory is closed") from None
        what = failure.what if failure.reported else f"the design {failure.what}"
        raise DesignFailure(what, kind=failure.kind) from None


def _wait_of(data: Any) -> Wait:
    try:
        return Wait.from_json(data)
    except (TypeError, ValueError) as error:
        raise DesignFailure(f"the design waits for nonsense: {error}", kind="protocol") from None


def _one_line(encoded: str | bytes) -> str:
    text = encoded if isinstance(encoded, str) else encoded.decode()
    if "\n" in text:
        raise UsageError("what is encoded for a memory is one line of JSON")
    return text


def _header(design: Design) -> bytes:
    return f"metamem-snapshot 2 {design.id}\n".encode()


def _unwrap(snapshot: bytes, design: Design) -> str:
    header = _header(design)
    if not snapshot.startswith(header) or not snapshot.isascii():
        raise UsageError("this is not a snapshot of this design", hint="rebuild it by replay")
    return snapshot[len(header) :].decode()
