"""A memory for an agent of one's own: open, retrieve, update, close.

The log of experiences is the truth. The state of the memory is a cache of it, so a better design
can take over the same log at any time. What is served is what was evaluated: the same class holds
the memory here and there.
"""

import asyncio
import threading
import warnings
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, get_args

from metamem.core.episode import cap_advice
from metamem.core.errors import UsageError
from metamem.core.types import Design, Experience, Query, Step
from metamem.core.waiting import USUAL_ASKS, Answer
from metamem.designs.jailed import Jail
from metamem.designs.limits import Limits
from metamem.hosting import (
    CallSites,
    FileLog,
    HostedMemory,
    RecordedModel,
    Rollout,
    SnapshotFolder,
    open_kept,
    open_unkept,
)
from metamem.hosting.acting import Acting, AsyncActing
from metamem.models import default_embedder
from metamem.models.allowance import Allowance

T = TypeVar("T")


class AsyncOpenMemory:
    """A running design for code that awaits, and for any number of callers at once.

    Open it with `async with`, or with `await memory.open()` and, in the end, `await memory.close()`.
    Learned code stays in the jail.
    """

    def __init__(
        self,
        design: Design,
        path: str | Path | None = None,
        *,
        seed: int = 0,
        advice_tokens: int = 4000,
        rollout: Rollout = "frozen",
        isolation: str = "auto",
        model: str = "",
        allowance: Allowance | None = None,
    ) -> None:
        """`model` answers designs that ask one; what it said is kept, so a reopening is free.

        `rollout="streaming"` is for designs that were evaluated so: retrievals change the state.
        """
        if rollout not in get_args(Rollout):
            raise UsageError(f"no rollout called {rollout!r}", hint="known: frozen, streaming")
        self.design = design
        self.advice_tokens = advice_tokens
        self._path = None if path is None else Path(path)
        self._seed, self._rollout, self._isolation = seed, rollout, isolation
        self._model_name, self._allowance = model, allowance
        self._model: RecordedModel | None = None
        self._sites = CallSites(design)
        self._jail: Jail | None = None
        self._memory: HostedMemory | None = None
        self._noted = 0

    @property
    def failed_updates(self) -> int:
        """Experiences in the log that the design could not take in."""
        return self._open.failed_updates

    @property
    def replayed(self) -> int:
        """Experiences that the design had to see again when it was opened."""
        return self._open.replayed

    @property
    def notes(self) -> tuple[str, ...]:
        """What did not go as it should and does no harm. Each was also given as a warning."""
        return tuple(self._open.notes)

    async def open(self) -> Self:
        """Learn what is in the log: from the newest snapshot that fits, and the rest of the log."""
        if self._memory is not None:
            raise UsageError("this memory is open already")
        try:
            self._memory = await self._opened()
        except BaseException:
            await self._release()
            raise
        self._say_notes()
        return self

    async def retrieve(
        self,
        goal: str,
        observation: str = "",
        actions: Sequence[str] = (),
        steps: Sequence[Step] = (),
    ) -> str:
        """What memory says about a task now, within the token budget.

        A model that the design asks is asked once for the same question after the same experiences.
        """
        query = Query(goal, observation, tuple(actions), tuple(steps))
        at = self._sites.of_retrieval(self._open.position)
        return cap_advice(await self._open.retrieve(query, at), self.advice_tokens).text

    async def acting(
        self,
        goal: str,
        observation: str = "",
        actions: Sequence[str] = (),
        *,
        every: int = 0,
        most: int = USUAL_ASKS,
    ) -> AsyncActing:
        """Memory beside an agent that acts: asked now, and again when what it waits for has come.

        At most so many times in all; with `every`, after every so many actions in place of that.
        """

        async def ask(query: Query) -> Answer:
            return await self._open.answer(query, self._sites.of_retrieval(self._open.position))

        tokens = self.advice_tokens
        acting = AsyncActing(
            ask, goal, observation, actions, advice_tokens=tokens, every=every, most=most
        )
        await acting.begin()
        return acting

    async def update(self, experience: Experience | Mapping[str, Any]) -> None:
        """Learn from an episode. It is in the log before the design sees it."""
        if isinstance(experience, Mapping):
            experience = Experience.from_json(experience)
        try:
            await self._open.update(experience)
        finally:
            self._say_notes()

    async def close(self) -> None:
        """Keep a snapshot beside the log, and end everything."""
        if self._memory is not None:
            try:
                await self._memory.close()
            finally:
                self._say_notes()
                await self._release()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def _open(self) -> HostedMemory:
        if self._memory is None:
            raise UsageError("this memory is not open")
        return self._memory

    async def _opened(self) -> HostedMemory:
        if self._model_name:
            self._model = RecordedModel(self._model_name, self._path, self._allowance)
            self._sites = CallSites(self.design, self._model)
        log = None if self._path is None else await asyncio.to_thread(FileLog, self._path)
        self._jail = Jail(limits=Limits(), isolation=self._isolation)
        settings: dict[str, Any] = {
            "seed": self._seed,
            "embedder": await asyncio.to_thread(default_embedder),
            "rollout": self._rollout,
            "call_site_of": self._sites.of_update,
        }
        if self._path is None or log is None:
            return await open_unkept(self._jail, self.design, **settings)
        folder, model = SnapshotFolder(self._path), self._sites.model
        return await open_kept(self._jail, self.design, log, folder, model=model, **settings)

    def _say_notes(self) -> None:
        fresh = self._open.notes[self._noted :]
        self._noted += len(fresh)
        for note in fresh:  # about a folder, not about a line of somebody's code
            warnings.warn_explicit(note, UserWarning, str(self._path), 0)

    async def _release(self) -> None:
        if self._jail is not None:
            await self._jail.close()
        if self._model is not None:
            await self._model.close()
        self._model = self._jail = None


class OpenMemory:
    """A running design with plain, blocking calls, from any thread. Learned code stays in the jail."""

    def __init__(self, design: Design, path: str | Path | None = None, **settings: Any) -> None:
        """The settings are those of `AsyncOpenMemory`."""
        self._memory = AsyncOpenMemory(design, path, **settings)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        try:
            self._wait(self._memory.open())
        except BaseException:
            self._stop()
            raise

    @property
    def design(self) -> Design:
        return self._memory.design

    @property
    def advice_tokens(self) -> int:
        return self._memory.advice_tokens

    @property
    def failed_updates(self) -> int:
        """Experiences in the log that the design could not take in."""
        return self._memory.failed_updates

    @property
    def replayed(self) -> int:
        """Experiences that the design had to see again when it was opened."""
        return self._memory.replayed

    @property
    def notes(self) -> tuple[str, ...]:
        """What did not go as it should and does no harm. Each was also given as a warning."""
        return self._memory.notes

    def retrieve(
        self,
        goal: str,
        observation: str = "",
        actions: Sequence[str] = (),
        steps: Sequence[Step] = (),
    ) -> str:
        """What memory says about a task now, within the token budget."""
        return self._wait(self._memory.retrieve(goal, observation, actions, steps))

    def acting(
        self, goal: str, observation: str = "", actions: Sequence[str] = (), **rule: int
    ) -> "Acting":
        """Memory beside an agent that acts. The rule is that of `AsyncOpenMemory.acting`."""
        begun = self._wait(self._memory.acting(goal, observation, actions, **rule))
        return Acting(begun, self._wait)

    def update(self, experience: Experience | Mapping[str, Any]) -> None:
        """Learn from an episode. It is in the log before the design sees it."""
        self._wait(self._memory.update(experience))

    def close(self) -> None:
        if self._loop.is_closed():
            return
        try:
            self._wait(self._memory.close())
        finally:
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

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
