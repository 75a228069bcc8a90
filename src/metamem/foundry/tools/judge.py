"""From a candidate to a verdict: a tool is written, replayed on cases that it was not written from, and judged.

The cases come in the order in which they were recorded. A case that cannot be replayed says nothing and is
left out. One that can be replayed and does not fit the steps that the tool was written from counts against
it: it was asked for in the same words, and the tool cannot do it. Judging again costs new cases only.
"""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from metamem.evaluation.statistics import binomial_lower_bound, binomial_tail
from metamem.foundry.tools.interface import values_of
from metamem.foundry.tools.operations import NotATool
from metamem.foundry.tools.replay import Replayer
from metamem.foundry.tools.tool import Case, NotYet, Tool, Writer
from metamem.foundry.tools.verdict import Decided, Replayed, Verdict
from metamem.foundry.words import Occurrence, Trace, Workflow
from metamem.foundry.workflows.candidates import Candidate
from metamem.promotion import Decision, ExactShare, Gate

LEVEL, SHARE = 0.01, 0.8
FEWEST = 21  # cases, all of them equal, with which a tool can pass
MOST = 60  # cases that are replayed: a tool that has not passed by then does not


class Replays(Protocol):
    """Replays that were made before. They are kept by tool and case."""

    def known(self, tool: str, case: str) -> Replayed | None: ...

    def keep(self, tool: str, replayed: Replayed) -> None: ...


@dataclass(slots=True)
class Remembered:
    """Replays in memory, for as long as that lasts."""

    kept: dict[tuple[str, str], Replayed] = field(default_factory=dict)

    def known(self, tool: str, case: str) -> Replayed | None:
        return self.kept.get((tool, case))

    def keep(self, tool: str, replayed: Replayed) -> None:
        self.kept[tool, replayed.case] = replayed


async def judge(
    candidate: Candidate,
    trace_of: Callable[[str], Trace | None],
    writer: Writer,
    *,
    replayer: Replayer | None = None,
    replays: Replays | None = None,
    seconds: float = 600.0,
) -> Verdict:
    """What comes of a candidate. After so many seconds no more replays are begun: the rest is for the
    next time."""
    cases = [_case(one, trace_of) for one in candidate.workflow.occurrences]
    try:
        written = writer.write(candidate.workflow, [case for case in cases if case is not None])
        tool = await written if inspect.isawaitable(written) else written
    except NotATool as no:
        return Verdict(candidate.id, "none", no.message)
    except NotYet as later:
        return Verdict(candidate.id, "waits", later.message, asked=True)
    judging = _Judging(
        tool, replayer or Replayer(), replays if replays is not None else Remembered()
    )
    held_out = _in_order(candidate, tool, trace_of)
    found = await judging.replayed(held_out, time.monotonic() + seconds)
    return _verdict(candidate.id, tool, found, len(held_out))


def trying(
    replayer: Replayer, most: int = 2
) -> Callable[[Tool, Workflow, Sequence[Case]], Awaitable[str]]:
    """For writers that may try what they wrote: on cases that it was written from, never on others."""

    async def attempt(tool: Tool, workflow: Workflow, cases: Sequence[Case]) -> str:
        for case in cases[:most]:
            replayed, _ = await replayer.replay(tool, case, values_of(tool, workflow, case))
            if replayed.equal is False:
                return f"on a recorded case: {replayed.why}"
        return ""

    return attempt


@dataclass(frozen=True, slots=True)
class _HeldOut:
    case: Case
    values: Mapping[str, Any] | str  # or why there are none


def _case(occurrence: Occurrence, trace_of: Callable[[str], Trace | None]) -> Case | None:
    trace = trace_of(occurrence.session)
    return None if trace is None else Case(trace, occurrence)


def _in_order(
    candidate: Candidate, tool: Tool, trace_of: Callable[[str], Trace | None]
) -> list[_HeldOut]:
    """Cases as they were recorded, those that do not fit among them."""
    found = []
    for occurrence in candidate.held_out:
        if (case := _case(occurrence, trace_of)) is not None:
            found.append(_HeldOut(case, values_of(tool, candidate.workflow, case)))
    for occurrence in candidate.unfit:
        if (case := _case(occurrence, trace_of)) is not None:
            found.append(_HeldOut(case, "the tool was written for other steps than these"))
    return sorted(found, key=lambda one: (_when(one.case), one.case.id))


def _when(case: Case) -> int:
    return min((use.at for use in case.uses if use.at is not None), default=0)


class _Judging:
    def __init__(self, tool: Tool, replayer: Replayer, replays: Replays) -> None:
        self._tool, self._replayer, self._replays = tool, replayer, replays

    async def replayed(self, cases: Sequence[_HeldOut], until: float) -> list[Replayed]:
        """Replays in the order of their cases, up to where it is clear how the gate will decide."""
        found: list[Replayed] = []
        waiting: list[asyncio.Task[Replayed]] = []
        rest = list(cases)
        try:
            while rest or waiting:
                while rest and len(waiting) < self._replayer.budget.at_once:
                    if time.monotonic() > until and self._known(rest[0]) is None:
                        rest = []
                        break
                    waiting.append(asyncio.ensure_future(self._one(rest.pop(0))))
                if not waiting:
                    break
                found.append(await waiting[0])
                waiting.pop(0)
                if _settled(found, len(cases)):
                    break
            return found
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    def _known(self, one: _HeldOut) -> Replayed | None:
        return self._replays.known(self._tool.id, one.case.id)

    async def _one(self, one: _HeldOut) -> Replayed:
        if (known := self._known(one)) is not None:
            return known
        replayed, lasting = await self._replayer.replay(self._tool, one.case, one.values)
        if lasting:
            self._replays.keep(self._tool.id, replayed)
        return replayed


def _counted(found: Sequence[Replayed]) -> tuple[int, int]:
    """How many are equal, of how many that could be replayed."""
    return sum(one.equal is True for one in found), sum(one.equal is not None for one in found)


def _passes(equal: int, known: int) -> bool:
    return known > 0 and binomial_lower_bound(equal, known, LEVEL) >= SHARE


def _settled(found: Sequence[Replayed], held_out: int) -> bool:
    """Whether more replays would change nothing: there are enough, or it cannot pass any more."""
    equal, known = _counted(found)
    if known >= MOST or equal == known:
        return known >= MOST
    left = min(held_out - len(found), MOST - known)
    return _hopeless(equal, known) or (
        known + left >= FEWEST and not _passes(equal + left, known + left)
    )


def _hopeless(equal: int, known: int) -> bool:
    """It is proven that the share is too small, however many cases there will be."""
    return known > 0 and binomial_tail(known - equal, known, 1.0 - SHARE) < LEVEL


def _verdict(workflow: str, tool: Tool, found: Sequence[Replayed], held_out: int) -> Verdict:
    equal, known = _counted(found)
    outcomes = {one.case: float(one.equal) for one in found if one.equal is not None}
    decision = Gate(LEVEL, ExactShare(SHARE)).decide({tool.id: outcomes}, {})
    decided, why = _decided(decision, found, held_out)
    lower = binomial_lower_bound(equal, known, LEVEL) if known else 0.0
    return Verdict(workflow, decided, why, tool, tuple(found), lower)


def _decided(decision: Decision, found: Sequence[Replayed], held_out: int) -> tuple[Decided, str]:
    equal, known = _counted(found)
    seen = f"{equal} of {known} held-out cases came out equal"
    if decision.promoted is not None:
        lower = binomial_lower_bound(equal, known, LEVEL)
        return "promoted", f"{seen}: at least {lower:.1%} of all, at {LEVEL:.0%}"
    possible = known + held_out - len(found)  # cases that say something, if all that are left do
    if equal < known and (possible >= FEWEST or _hopeless(equal, known)):
        first = next(one.why for one in found if one.equal is False)
        return "refused", f"{seen}: {first}; {SHARE:.0%} of all must, at {LEVEL:.0%}"
    needed = _fewest(known - equal)
    told = [f"not enough data yet: {seen}, {needed - known} more are needed"]
    if cannot := [one.why for one in found if one.equal is None]:
        told.append(f"{len(cannot)} cannot be replayed ({cannot[0]})")
    if len(found) < held_out:
        told.append(f"{held_out - len(found)} are left for the next time")
    return "waits", "; ".join(told)


def _fewest(failures: int) -> int:
    """How many cases it takes to pass with so many failures among them."""
    known = failures + 1
    while not _passes(known - failures, known):
        known += 1
    return known
