"""A memory for an agent of one's own: open, retrieve, update, close.

The log of experiences is the truth. The state of the memory is rebuilt from it on opening, so
a better design can take over the same log at any time.
"""

import asyncio
import json
import os
import tempfile
import threading
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from metamem.core.chat import Site
from metamem.core.errors import DataError, DesignFailure, UsageError
from metamem.core.ids import canonical_json
from metamem.core.types import Design, Experience, Query, Step
from metamem.designs.jailed import AskModel, Jail, JailedMemory
from metamem.evaluation.chats import PlacedChat, for_design
from metamem.evaluation.episode import cap_advice
from metamem.models import default_embedder
from metamem.models.broker import Broker
from metamem.models.budget import Allowance
from metamem.models.config import load_config
from metamem.sandbox.limits import Limits
from metamem.store.sqlite import SqliteArchive

T = TypeVar("T")
LOG = "experiences.jsonl"
CALLS = "models.db"
ROLE = "memory"


class OpenMemory:
    """A running design with plain, blocking calls. Learned code stays in the jail."""

    def __init__(
        self,
        design: Design,
        path: str | Path | None = None,
        *,
        seed: int = 0,
        advice_tokens: int = 4000,
        layer: str = "auto",
        model: str = "",
        allowance: Allowance | None = None,
    ) -> None:
        """`model` answers designs that ask one; what it said is kept, so a reopening is free."""
        self.design = design
        self.advice_tokens = advice_tokens
        self._updates = self._retrievals = 0
        self._models = _Models(model, path, design, allowance) if model else None
        self.failed_updates = 0  # experiences in the log that the design could not take in
        self._log = _Log(Path(path)) if path is not None else None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._jail = Jail(limits=Limits(), layer=layer)
        try:
            self._memory = self._wait(self._open(seed))
        except BaseException:
            self._stop()
            raise

    def retrieve(
        self,
        goal: str,
        observation: str = "",
        actions: Sequence[str] = (),
        steps: Sequence[Step] = (),
    ) -> str:
        """What memory says about a task now, within the token budget."""
        query = Query(goal, observation, tuple(actions), tuple(steps))
        self._memory.llm = self._model("retrieve", self._retrievals)
        self._retrievals += 1
        return cap_advice(self._wait(self._memory.retrieve(query)), self.advice_tokens).text

    def update(self, experience: Experience | Mapping[str, Any]) -> None:
        """Learn from an episode. It is in the log before the design sees it."""
        if isinstance(experience, Mapping):
            experience = Experience.from_json(experience)
        line = canonical_json(experience.to_json())
        if self._log is not None:
            self._log.append(line)
        self._memory.llm = self._next_update()
        self._wait(self._memory.update_encoded(line))

    def close(self) -> None:
        if self._loop.is_closed():
            return
        self._wait(self._memory.close())
        self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def _open(self, seed: int) -> JailedMemory:
        await self._jail.start()
        memory = await self._jail.open(self.design, seed=seed, embedder=default_embedder())
        for line in self._log.lines if self._log is not None else ():
            memory.llm = self._next_update()
            try:
                await memory.update_encoded(line)
            except DesignFailure as failure:
                if failure.kind != "crash":  # over a limit: the process is gone
                    raise
                self.failed_updates += 1
        return memory

    def _next_update(self) -> AskModel | None:
        self._updates += 1
        return self._model("update", self._updates)

    def _model(self, phase: str, number: int) -> AskModel | None:
        return self._models.at(phase, number) if self._models is not None else None

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _stop(self) -> None:
        self._wait(self._jail.close())
        if self._models is not None:
            self._wait(self._models.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _Models:
    """The model of a memory, its calls kept beside the log of experiences."""

    def __init__(
        self, name: str, path: str | Path | None, design: Design, allowance: Allowance | None
    ) -> None:
        self._scratch = tempfile.TemporaryDirectory() if path is None else None
        folder = Path(self._scratch.name if self._scratch is not None else path or "")
        opened = load_config().open_roles({ROLE: [name]})
        self._archive = SqliteArchive(folder / CALLS)
        self._broker = Broker(self._archive, opened, run_id=ROLE, allowance=allowance)
        self._design = design.id

    def at(self, phase: str, number: int) -> AskModel:
        site = Site("memory", design=self._design, phase=phase, repeat=number)
        return for_design(PlacedChat(self._broker.ask, site))

    async def close(self) -> None:
        await self._broker.close()
        self._archive.close()
        if self._scratch is not None:
            self._scratch.cleanup()


class _Log:
    """Experiences, one a line, appended and flushed to disk before they count."""

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._path = folder / LOG
            self._path.touch()
            content = self._path.read_bytes()
        except OSError as error:
            raise UsageError(
                f"the memory at {folder} cannot be opened: {error.strerror}"
            ) from error
        whole, _, torn = content.rpartition(b"\n")
        if torn:  # a write that never finished: its update never returned
            with self._path.open("r+b") as file:
                file.truncate(len(content) - len(torn))
        self.lines = whole.decode(errors="strict").splitlines() if whole else []
        for number, line in enumerate(self.lines, 1):
            try:
                json.loads(line)
            except ValueError as error:
                raise DataError(f"{self._path}, line {number} is damaged: {error}") from error

    def append(self, line: str) -> None:
        with self._path.open("ab") as file:
            file.write(line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
