"""Which design answers in a scope: what was decided in the promotion ledger, or what was named.

One that comes with metamem and is named runs with the settings that are in use for it at the moment.
"""

import asyncio
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from metamem.core.access import Scope
from metamem.core.errors import UsageError
from metamem.core.types import Design
from metamem.promotion.ledger import Ledger
from metamem.promotion.settings import as_in_use
from metamem.promotion.standing import Standing as Decisions
from metamem.service.designs.places import standing_in
from metamem.service.designs.trials import NO_TRIAL, Choice, chosen
from metamem.service.designs.words import Trial
from metamem.store.facets import Designs, Promotions

NOBODY: Mapping[str, Design] = {}


class Decided(Designs, Promotions, Protocol):
    """What serving needs of an archive: designs, and what was decided about them."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the ledger said of a scope at one moment."""

    at: float
    standing: Decisions
    named: Design | None = None  # by whoever started the service, in the place of what is in use

    @property
    def in_use(self) -> str:
        return self.standing.in_use.subject.id if self.standing.in_use else ""

    def knows(self, design: str) -> bool:
        waiting = {entry.subject.id for entry in self.standing.pending}
        return design in waiting | {entry.subject.id for entry in self.standing.applied}


class Deciding:
    """Looks into the ledger, at most every few seconds for each scope."""

    def __init__(
        self,
        archive: Decided,
        named: Mapping[str, Design],
        look_every: float,
        settable: Collection[str] = (),
    ) -> None:
        """`settable` are the ids of the named designs that run with the settings in use."""
        self._archive, self._ledger = archive, Ledger(archive)
        self._named = {str(Scope.parse(scope)): design for scope, design in named.items()}
        self._designs = {design.id: design for design in self._named.values()}
        self._look_every, self._settable = look_every, settable
        self._decisions: dict[str, Decision] = {}

    async def choice(self, scope: Scope, trial: Trial, unit: str) -> Choice:
        """The design for one session: that of the live comparison, or the one in use."""
        decided = await self.decision(scope)
        in_use = decided.named.id if decided.named else decided.in_use
        if trial.id and not (decided.knows(trial.design) or in_use == trial.design):
            trial = NO_TRIAL  # it was turned down, or undone
        return chosen(trial, in_use, unit)

    async def decision(self, scope: Scope, *, afresh: bool = False) -> Decision:
        name, now = str(scope), time.monotonic()
        known = self._decisions.get(name)
        if known is None or afresh or now - known.at >= self._look_every:
            standing, named = await asyncio.to_thread(self._looked_up, scope)
            if named is not None:
                self._designs[named.id] = named
            known = self._decisions[name] = Decision(now, standing, named)
        return known

    def _looked_up(self, scope: Scope) -> tuple[Decisions, Design | None]:
        named = self._named.get(str(scope))
        if named is not None and named.id in self._settable:
            with suppress(UsageError):  # of another version of the design: it runs as it is written
                named = as_in_use(named, self._ledger)
        return standing_in(self._ledger, scope), named

    async def design(self, design: str) -> Design:
        if design not in self._designs:
            self._designs[design] = await asyncio.to_thread(self._archive.design, design)
        return self._designs[design]

    async def find(self, prefix: str) -> str:
        """The id of the design of the archive that begins so."""
        return await asyncio.to_thread(self._archive.find, prefix)
