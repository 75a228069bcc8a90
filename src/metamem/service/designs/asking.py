"""The model that served designs ask, and what becomes of a design whose model does not answer.

What it says to a scope is kept with the scope, so that it is paid once however often a memory is
opened. Where no answer comes (the budget is spent, the provider fails), an update does not happen:
the memory stands still, so that nothing is lost and its state stays one that the log and the kept
replies make. A retrieval goes on as after a refusal: it leaves no trace.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from metamem.core.chat import Question, Reply, Site
from metamem.core.errors import AllowanceSpent, MetamemError, ModelFault, ModelRefused
from metamem.core.protocols import CallSite
from metamem.models.placed import PlacedChat, for_design
from metamem.service.database import Database
from metamem.service.designs import replies
from metamem.service.designs.replies import Asked, Told
from metamem.service.designs.serving import Serving
from metamem.service.metered import Metered, spent


class ModelAway(MetamemError):
    """There is no answer now, and asking the same later may bring one."""


class DesignModel:
    """For all scopes and designs of a server, in one event loop."""

    def __init__(self, database: Database, model: Metered, serving: Serving) -> None:
        self._database, self._model, self._serving = database, model, serving
        self._counted: Counter[str] = Counter()
        self._trouble = ""  # why the latest question had no answer
        self._again = 0.0  # when a provider that failed is asked again
        self._closed = False
        self._under_way: dict[int, set[asyncio.Task[Reply]]] = {}  # by scope

    @property
    def fingerprint(self) -> str:
        return self._model.fingerprint

    def of(self, scope: int, erasures: Callable[[], int]) -> "ScopeModel":
        """As the designs of one scope may ask it; `erasures` had been when what they know was read."""
        return ScopeModel(self, scope, erasures)

    def cut(self, scope: int) -> None:
        """Whoever waits for an answer on behalf of a scope waits no longer."""
        for task in list(self._under_way.get(scope, ())):
            task.cancel()

    async def finish(self, seconds: float) -> None:
        """No question is begun any more; those under way have so long to be answered."""
        self._closed = True
        tasks = [task for several in self._under_way.values() for task in several]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        for scope in list(self._under_way):
            self.cut(scope)

    def status(self) -> dict[str, Any]:
        """Counts for those who watch it, without names and without content."""
        paid = spent(self._database, designs=True)
        counts = {
            what: self._counted[what] for what in ("asked", "replayed", "refused", "unanswered")
        }
        return {
            **counts,
            "tokens": paid.tokens,
            "money": paid.money,
            "stopped": bool(self._trouble),
            "warning": self.warning,
        }

    @property
    def warning(self) -> str:
        """What somebody should look at; empty where all is well."""
        if not self._trouble:
            return ""
        return f"served designs ask a model and have no answer: {self._trouble}"

    async def ask(self, asked: Asked) -> Reply:
        """What was said once; else what the model says now."""
        self._counted["asked"] += 1
        told = await asyncio.to_thread(self._kept, asked)
        if told is not None:
            self._counted["replayed"] += 1
            return told.given()
        try:
            return await self._fresh(asked)
        except ModelRefused:
            self._counted["refused"] += 1
            raise
        except ModelAway:
            self._counted["unanswered"] += 1
            raise

    async def _fresh(self, asked: Asked) -> Reply:
        if self._closed:
            raise ModelAway("the memory is being closed")
        if time.monotonic() < self._again:
            raise ModelAway(self._trouble)
        task = asyncio.create_task(self._paid(asked))
        under_way = self._under_way.setdefault(asked.scope, set())
        under_way.add(task)
        task.add_done_callback(under_way.discard)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        # Whoever gives up waiting does not end it: what was paid is kept.
        patience = self._serving.answer_seconds if asked.retrieves else None
        await asyncio.wait([task], timeout=patience)
        if not task.done():
            raise ModelAway(f"the model did not answer within {patience:g} s")
        if task.cancelled():
            raise ModelAway("the memory is being closed")
        return task.result()

    async def _paid(self, asked: Asked) -> Reply:
        try:
            told = Told(await self._model.ask(asked.site, asked.question))
        except ModelRefused as refused:
            told = Told(refusal=refused.message)
        except AllowanceSpent as error:
            self._trouble = error.message
            raise ModelAway(error.message) from error
        except ModelFault as error:  # its words are the provider's, who may quote what it was sent
            self._trouble = "the model cannot be reached, or keeps failing"
            self._again = time.monotonic() + self._serving.retry_seconds
            raise ModelAway(self._trouble) from error
        await asyncio.to_thread(self._keep, asked, told)
        self._trouble = ""
        return told.given()

    # --- in threads --------------------------------------------------------------------------

    def _kept(self, asked: Asked) -> Told | None:
        with self._database.reading() as execute:
            return replies.kept(execute, asked)

    def _keep(self, asked: Asked, told: Told) -> None:
        with self._database.writing(durable=True) as execute:
            replies.keep(execute, asked, told)


class ScopeModel:
    """The model, as one memory of a scope asks it."""

    def __init__(self, model: DesignModel, scope: int, erasures: Callable[[], int]) -> None:
        self._model, self._scope, self._erasures = model, scope, erasures
        self.missed = ""  # why a question had no answer

    @property
    def fingerprint(self) -> str:
        return self._model.fingerprint

    def at(self, site: Site) -> CallSite:
        ask = partial(self._ask, self._erasures())
        return CallSite(site, for_design(PlacedChat(ask, site)))

    async def _ask(self, erasures: int, site: Site, question: Question) -> Reply:
        site = replace(site, task=f"scope {self._scope}")  # so that scopes share no answer
        key = site.key(self.fingerprint, question)
        asked = Asked(self._scope, erasures, site, question, key)
        try:
            return await self._model.ask(asked)
        except ModelAway as away:
            self.missed = away.message
            if asked.retrieves:
                raise ModelRefused(away.message) from None
            raise
