"""Which design answers in a scope: what was decided in the promotion ledger, or what was named."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from metamem.core.access import Scope
from metamem.core.types import Design
from metamem.promotion.ledger import Ledger
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

    @property
    def in_use(self) -> str:
        return self.standing.in_use.subject.id if self.standing.in_use else ""

    def knows(self, design: str) -> bool:
        waiting = {entry.subject.id for entry in self.standing.pending}
        return design in waiting | {entry.subject.id for entry in self.standing.applied}


class Deciding:
    """Looks into the ledger, at most every few seconds for each scope."""

    def __init__(self, archive: Decided, named: Mapping[str, Design], look_every: float) -> None:
        self._archive, self._ledger = archive, Ledger(archive)
        self._named = {str(Scope.parse(scope)): design for scope, design in named.items()}
        self._designs = {design.id: design for design in self._named.values()}
        self._look_every = look_every
        self._decisions: dict[str, Decision] = {}

    async def choice(self, scope: Scope, trial: Trial, unit: str) -> Choice:
        """The design for one session: that of the live comparison, or the one in use."""
        decided = await self.decision(scope)
        named = self._named.get(str(scope))
        in_use = named.id if named else decided.in_use
        if trial.id and not (decided.knows(trial.design) or in_use == trial.design):
            trial = NO_TRIAL  # it was turned down, or undone
        return chosen(trial, in_use, unit)

    async def decision(self, scope: Scope, *, afresh: bool = False) -> Decision:
        name, now = str(scope), time.monotonic()
        known = self._decisions.get(name)
        if known is None or afresh or now - known.at >= self._look_every:
            found = await asyncio.to_thread(standing_in, self._ledger, scope)
            known = self._decisions[name] = Decision(now, found)
        return known

    def is_named(self, scope: Scope, design: str) -> bool:
        named = self._named.get(str(scope))
        return named is not None and named.id == design

    async def design(self, design: str) -> Design:
        if design not in self._designs:
            self._designs[design] = await asyncio.to_thread(self._archive.design, design)
        return self._designs[design]

    async def find(self, prefix: str) -> str:
        """The id of the design of the archive that begins so."""
        return await asyncio.to_thread(self._archive.find, prefix)
