"""Learned designs as the memories of scopes, for many callers at once.

Which design serves a scope the promotion ledger says, unless whoever started this named one. A design
runs in the jail and learns from the scope's log of experiences. What goes wrong with it costs advice
and nothing else: the call is answered without, and the trouble is reported.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from metamem.core import waiting
from metamem.core.access import Caller, Scope
from metamem.core.episode import cap_advice
from metamem.core.errors import MetamemError, StoreError, UnknownName, UsageError
from metamem.core.ids import short
from metamem.core.types import Advice, Design, Experience, Query
from metamem.designs.jailed import Jail
from metamem.designs.limits import Limits
from metamem.hosting import CallSites
from metamem.models import default_embedder
from metamem.models.embedders import AnyEmbedder
from metamem.service.access.acting import Act, allow
from metamem.service.designs import moments, permission, trials
from metamem.service.designs.asking import DesignModel
from metamem.service.designs.clean import clean_experience, clean_query, without_secrets
from metamem.service.designs.deciding import NOBODY, Decided, Deciding
from metamem.service.designs.keeping import OpenMemories, Spot, Tools, spot_of
from metamem.service.designs.serving import USUAL, Reports, Serving
from metamem.service.designs.standing import standing_of
from metamem.service.designs.trials import Choice
from metamem.service.designs.words import Advised, Against, Experienced, Standing, Trial
from metamem.service.marks import unfenced
from metamem.service.metered import Metered
from metamem.service.service import MemoryService
from metamem.service.sight import Right, sight
from metamem.service.writing.fields import identifier
from metamem.store.engine import Execute

T = TypeVar("T")
MOST_SESSION = 200  # characters of a session's id


class ServedDesigns:
    """Open it with `async with`. All calls belong to the event loop that it was opened in."""

    def __init__(
        self,
        service: MemoryService,
        archive: Decided,
        *,
        named: Mapping[str, Design] = NOBODY,
        settable: Collection[str] = (),
        serving: Serving = USUAL,
        embedder: AnyEmbedder | None = None,
        limits: Limits | None = None,
        model: Metered | None = None,
    ) -> None:
        """`named` are designs by scope, in the place of what the ledger says; those whose ids are in
        `settable` run with the settings that the ledger has in use for them. `model` answers those
        that ask one."""
        self._done = Reports()
        self.reports, self.counted = self._done.latest, self._done.counted
        self.service = service
        self._model = DesignModel(service.database, model, serving) if model is not None else None
        self._deciding = Deciding(archive, named, serving.look_every, settable)
        self._serving, self._embedder, self._limits = serving, embedder, limits
        self._current: dict[int, str] = {}  # by scope: the design that answered last
        self._failed: dict[tuple[int, str], float] = {}  # when to try again
        self._memories: OpenMemories | None = None
        self._jail: Jail | None = None
        self._making = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0  # of the loop
        self._sweeping: asyncio.Task[None] | None = None

    # --- opening and closing -----------------------------------------------------------------

    async def open(self) -> Self:
        if self._memories is not None:
            raise UsageError("these designs are served already")
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._memories = OpenMemories(
            self.service.database,
            self.service.folder,
            self._tools,
            self._serving,
            self._model,
        )
        self.service.erasing.erasers.insert(0, self)
        self._sweeping = asyncio.create_task(self._sweep())
        return self

    async def close(self) -> None:
        """Keep what the memories know, and end them."""
        if self._memories is None:
            return
        assert self._sweeping is not None
        self.service.erasing.erasers.remove(self)
        self._sweeping.cancel()
        memories, self._memories = self._memories, None
        try:
            if self._model is not None:
                await self._model.finish(self._serving.patience)
            await memories.close()
        finally:
            self._loop = None
            if self._jail is not None:
                await self._jail.close()
                self._jail = None

    async def _tools(self) -> Tools:
        """What a design runs with: made for the first one, so that nobody pays for none."""
        async with self._making:
            if self._embedder is None:
                self._embedder = await asyncio.to_thread(_usual_embedder)
            if self._jail is None:
                limits = self._limits or Limits()
                self._jail = Jail(limits=limits, isolation=self._serving.isolation)
        return self._jail, self._embedder

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    # --- what callers do ---------------------------------------------------------------------

    async def advise(
        self, caller: Caller, scope: str, query: Query, *, session: str = ""
    ) -> Advised:
        """What the memory of a scope says to a question; it may be nothing."""
        with self.service.acts.acting(caller, "advise", [scope]) as act:
            allow(caller, "read", [scope])
            if len(session) > MOST_SESSION:
                raise UsageError(f"the id of a session has at most {MOST_SESSION} characters")
            session, query = identifier(session), clean_query(query)
            spot, trial = await asyncio.to_thread(self._look, caller, scope, "read")
            moment = act.target = moments.new_moment()
            choice = await self._deciding.choice(spot.scope, trial, session or moment)
            advice, wait, design, note = await self._asked(spot, choice, query)
            text = without_secrets(unfenced(advice.text))
            advised = Advised(
                moment,
                text,
                advice.tokens,
                advice.truncated,
                design,
                choice.held_back,
                note,
                wait=replace(wait, words=tuple(map(without_secrets, wait.words))),
            )
            self.counted.update(("asked", "advised" if text else "unadvised"))
            await asyncio.to_thread(self._enter, act, spot, query, session, choice, advised)
            return advised

    async def experience(
        self,
        caller: Caller,
        scope: str,
        experience: Experience,
        *,
        moment: str = "",
        useful: Sequence[str] = (),
    ) -> Experienced:
        """What an agent lived through, in the log for good once this returns; memory learns of it.

        `moment` names the advice that it came of, `useful` the facts that were of use in it.
        """
        with self.service.acts.acting(caller, "experience", [scope], moment) as act:
            data, kinds = clean_experience(experience)
            spot, position = await asyncio.to_thread(
                self._entered, act, scope, data, moment, tuple(useful)
            )
            self.counted["experiences"] += 1
            note = await self._taught(spot)
            return Experienced(position, kinds, note)

    async def compare(
        self,
        caller: Caller,
        scope: str,
        design: str,
        *,
        share: float = 0.5,
        against: Against = "nothing",
    ) -> Trial:
        """Begin a live comparison: `share` of the sessions are held back from a design, which is in
        use here or waits to be; the others are given it."""
        with self.service.acts.acting(caller, "compare", [scope], design) as act:
            allow(caller, "manage", [scope])
            spot, _ = await asyncio.to_thread(self._look, caller, scope, "manage")
            found = await self._deciding.decision(spot.scope, afresh=True)
            if not (found.knows(design) or (found.named and found.named.id == design)):
                raise UnknownName(
                    f"no design {design!r} waits or is in use in {scope}",
                    hint="metamem promotions lists what does",
                )
            former = "" if found.in_use == design else found.in_use
            begin = partial(trials.begin, share=share, against=against, former=former)
            return await self._changed(act, lambda execute: begin(execute, spot.number, design))

    async def end_comparison(self, caller: Caller, scope: str) -> bool:
        """From now on nobody is held back; whether anybody was."""
        with self.service.acts.acting(caller, "compare", [scope]) as act:
            allow(caller, "manage", [scope])
            spot, _ = await asyncio.to_thread(self._look, caller, scope, "manage")
            return await self._changed(act, lambda execute: trials.end(execute, spot.number))

    async def allow_learning(self, caller: Caller, scope: str, yes: bool = True) -> None:
        """Say whether designs may be learned from what this scope records, by whoever owns the
        file; in their own tenant they need no word."""
        with self.service.acts.acting(caller, "allow_learning", [scope]) as act:
            allow(caller, "manage", [scope])
            spot, _ = await asyncio.to_thread(self._look, caller, scope, "manage")
            allow_it = permission.allow_learning
            await self._changed(act, lambda execute: allow_it(execute, spot.number, yes))

    async def standing(self, caller: Caller, scope: str) -> Standing:
        """How the live comparison of a scope stands, and how much came back at all."""
        with self.service.acts.acting(caller, "comparison", [scope]):
            allow(caller, "read", [scope])
            return await asyncio.to_thread(standing_of, self.service, caller, scope)

    async def find(self, prefix: str) -> str:
        """The id of the design of the archive that begins so."""
        return await self._deciding.find(prefix)

    def status(self) -> dict[str, Any]:
        """For health and metrics: counters at zero are worth a look."""
        return {
            "open": len(self._memories) if self._memories is not None else 0,
            "model": self._model.status() if self._model is not None else None,
            **self._done.status(),
        }

    def warning(self) -> str:
        """What somebody should look at; empty where all is well."""
        return self._model.warning if self._model is not None else ""

    # --- erasing -----------------------------------------------------------------------------

    def erase(self, scope: Scope, person: str, texts: Sequence[str]) -> Mapping[str, int]:
        """Called by the service after its rows are gone: no running memory knows them any more."""
        loop, number = self._loop, self._number(scope)
        if loop is None or self._memories is None or number is None:
            return {}
        if threading.get_ident() == self._thread:
            raise StoreError(
                f"the memories of {scope} cannot be closed from the event loop",
                hint="erase in a thread: await asyncio.to_thread(service.erase, ...)",
            )
        asyncio.run_coroutine_threadsafe(self._memories.drop(number), loop).result()
        return {}

    def _number(self, scope: Scope) -> int | None:
        """Also of a scope that was just erased."""
        with self.service.database.reading() as execute:
            found = execute(
                "SELECT number FROM scopes WHERE tenant = ? AND kind = ? AND name = ?",
                (scope.tenant, scope.kind, scope.name),
            )
        return int(found[0][0]) if found else None

    # --- asking and teaching -----------------------------------------------------------------

    async def _asked(
        self, spot: Spot, choice: Choice, query: Query
    ) -> tuple[Advice, waiting.Wait, str, str]:
        """The advice, what the design waits for, which design that is, and why there is none."""
        if not choice.design:
            if not choice.comparison:
                self._open.retire(spot.number, set())
                return Advice(), waiting.NEVER, "", "no design is in use here"
            return Advice(), waiting.NEVER, "", ""
        design_id = choice.design
        try:
            design_id = await self._ready(spot, choice)
            design = await self._deciding.design(design_id)
            model = self._model.of(spot.number, lambda: spot.erasures) if self._model else None
            async with self._open.borrowed(spot, design) as memory:
                at = CallSites(design, model).of_retrieval(memory.position)
                answer = await memory.answer(query, at)
                note = self._without_model(spot, design_id, model.missed if model else "")
            found = cap_advice(answer.advice, self._serving.advice_tokens)
            self._current[spot.number] = design_id
            if not choice.comparison and design_id == choice.design:
                self._open.retire(spot.number, {design_id})
            return found, answer.wait or waiting.USUAL, design_id, note
        except MetamemError as error:
            return Advice(), waiting.NEVER, design_id, self._report(spot, design_id, error)

    async def _ready(self, spot: Spot, choice: Choice) -> str:
        """The design that can answer now: the chosen one, or the one before while that is opened."""
        wanted = choice.design
        before = self._current.get(spot.number, "")
        swaps = not choice.comparison and self._open.is_open(spot.number, before)
        if self._open.is_open(spot.number, wanted):
            if swaps and before != wanted and self._open.why_still(spot.number, wanted):
                self._open.go_on(spot, wanted)
                return before
            return wanted
        retry = self._failed.get((spot.number, wanted), 0.0)
        if time.monotonic() < retry:
            if swaps:
                return before
            raise StoreError(f"the design {short(wanted)} could not be opened and is left alone")
        opening = self._open.begin(spot, await self._deciding.design(wanted))
        opening.add_done_callback(lambda done: self._opened(spot, wanted, done))
        if swaps:
            return before
        await asyncio.wait([opening], timeout=self._serving.patience)
        if not opening.done():
            raise StoreError(f"the memory of the design {short(wanted)} is still being opened")
        return wanted

    def _opened(self, spot: Spot, design: str, done: asyncio.Task[Any]) -> None:
        if done.cancelled():
            return
        error = done.exception()
        if error is None:
            self._failed.pop((spot.number, design), None)
            return
        self._failed[spot.number, design] = time.monotonic() + self._serving.retry_seconds
        self._report(spot, design, error)

    async def _taught(self, spot: Spot) -> str:
        troubles = await self._open.learn(spot)
        notes = [self._report(spot, "", trouble) for trouble in troubles]
        notes += [
            self._without_model(spot, design, "") for design in self._open.open_in(spot.number)
        ]
        return " ".join(note for note in notes if note)

    def _without_model(self, spot: Spot, design: str, missed: str) -> str:
        """What callers are told where a design's model did not answer."""
        if still := self._open.why_still(spot.number, design):
            self.counted["behind"] += 1
            return f"memory stands still, and has not learned the latest: {still}"
        return f"memory went on without a model: {missed}" if missed else ""

    def _report(self, spot: Spot, design: str, error: BaseException) -> str:
        return self._done.add(str(spot.scope), design, error)

    @property
    def _open(self) -> OpenMemories:
        if self._memories is None:
            raise UsageError("these designs are not served: open them first")
        return self._memories

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(min(30.0, max(0.05, self._serving.idle_seconds / 2)))
            with suppress(MetamemError):
                self._open.close_idle(self._serving.idle_seconds)

    # --- in threads, each with one block of the database --------------------------------------

    def _look(self, caller: Caller, scope: str, right: Right) -> tuple[Spot, Trial]:
        with self.service.database.reading() as execute:
            (number,) = sight(execute, caller, right, [scope]).scopes
            return spot_of(execute, number, Scope.parse(scope)), trials.trial_of(execute, number)

    async def _changed(self, act: Act, change: Callable[[Execute], T]) -> T:
        """What a change comes to, entered together with the audit of it."""

        def entered() -> T:
            with self.service.database.writing() as execute:
                act.enter(execute)
                return change(execute)

        return await asyncio.to_thread(entered)

    def _enter(
        self, act: Act, spot: Spot, query: Query, session: str, choice: Choice, advised: Advised
    ) -> None:
        with self.service.database.writing() as execute:
            # Whoever erased the scope meanwhile has erased the right to it as well.
            sight(execute, act.caller, "read", [str(spot.scope)])
            moments.enter_asked(execute, spot.number, act.caller, query, session, choice, advised)
            act.enter(execute)

    def _entered(
        self, act: Act, scope: str, data: Mapping[str, Any], moment: str, useful: tuple[str, ...]
    ) -> tuple[Spot, int]:
        caller = self.service.ready(act, scope)
        with self.service.database.writing(durable=True) as execute:
            (number,) = sight(execute, caller, "write", [scope]).scopes
            position = moments.enter_experience(
                execute, number, scope, caller, data, moment, useful
            )
            act.enter(execute)
            return spot_of(execute, number, Scope.parse(scope)), position


def _usual_embedder() -> AnyEmbedder:
    return default_embedder()
