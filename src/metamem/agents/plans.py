"""Plans in advice: lines that are actions word for word, to be carried out in order.

Whether a line is a step shows only when its action is possible, so a plan is followed for as long
as its lines come true. A line that cannot be done now is passed over, unless an action of the same
kind can be done (another number may do), or it names a thing of the goal that is yet to be found
and the plan has not proved itself: then it was a plan for elsewhere, to be read like any advice.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from typing import NamedTuple

from metamem.agents.advice import Block, Clause
from metamem.agents.places import same_places

Words = frozenset[str]

_PROOF = 2  # lines that came true for each that is passed over though it matters


class PlanStep(NamedTuple):
    block: Block
    after: int  # the place in the block once it is done
    action: str


class Now(NamedTuple):
    """What may be done, and what that means to one who reads plans."""

    spelled: Mapping[str, str]  # spelling → action
    kinds: Container[Words]  # the words of every action
    reach: Words  # words of things that are known or at hand
    undoes: Callable[[str], bool]  # whether an action would undo what was done


def plan_step(blocks: Sequence[Block], now: Now) -> PlanStep | None:
    """The action that a plan has next. The plan once begun is kept to until it goes astray, and
    no other is tried after it: where several are told, they are experience of elsewhere.

    A block that touches no word of the goal is most likely about something else. It is followed
    only where no other can be, and only to the letter.
    """
    begun = next((block for block in blocks if block.kept), None)
    if begun is not None and begun.astray:
        return None
    step = _next(begun, now) if begun else _first(blocks, now)
    if step is not None:
        step.block.kept += 1
    elif begun is not None:
        begun.astray = True
    return step


def keep_places(before: Sequence[Block], now: Sequence[Block]) -> None:
    """Go on where one was: what was told before and is told again is not begun anew.

    A plan that went astray stays so. It must not stand in the way of one that was not told before.
    """
    known = same_places(
        [([clause.spelling for clause in block.clauses], block.position) for block in before],
        [[clause.spelling for clause in block.clauses] for block in now],
        beginnings=True,
    )
    fresh = any(place is None for place in known)
    for block, place in zip(now, known, strict=True):
        if place is None:
            continue
        old = before[place.before]
        block.position, block.kept, block.astray = place.position, old.kept, old.astray
        if block.astray and fresh:
            block.kept, block.warns = 0, True


def _first(blocks: Sequence[Block], now: Now) -> PlanStep | None:
    ready = [step for block in blocks if not block.warns and (step := _next(block, now))]
    fit = [step for step in ready if step.block.about_goal]
    if not fit:
        return ready[0] if len(ready) == 1 else None
    return max(fit, key=lambda step: step.block.trust)


def _next(block: Block, now: Now) -> PlanStep | None:
    passed = 0
    for place in range(block.position, len(block.clauses)):
        clause = block.clauses[place]
        after, action = _spelled_out(clause, place, now.spelled)
        if action and (after < len(block.clauses) or not now.undoes(action)):
            return PlanStep(block, after, action)  # to undo is meant where more is to follow
        if block.lists and not clause.listed:
            continue  # no step, only said
        passed += 1
        if not block.about_goal or (clause.words and clause.words in now.kinds):
            return None
        if not clause.goal_words <= now.reach and block.kept < _PROOF * passed:
            return None
    return None


def _spelled_out(clause: Clause, place: int, spelled: Mapping[str, str]) -> tuple[int, str]:
    if clause.line and clause.line in spelled:
        return place + 1 + clause.rest, spelled[clause.line]
    return place + 1, spelled.get(clause.spelling, "")
