"""Where one is in plans that are told again: new advice replaces the old, and one's place is kept.

A plan is an earlier one told again if its steps are the same, and what was left of it if it begins
with the steps that come next. If it begins with those that were passed, it is most likely told from
the start by one who did not look at what was done. Any other plan is new: it begins at its beginning.
"""

from collections.abc import Sequence
from typing import NamedTuple

Steps = Sequence[str]

_TELLING = 2  # different steps in a like beginning; one alone may be chance


class Place(NamedTuple):
    before: int  # which of the earlier plans it continues
    position: int  # the step expected next


def same_places(
    before: Sequence[tuple[Steps, int]], now: Sequence[Steps], *, beginnings: bool
) -> list[Place | None]:
    """For each plan now its place, where it continues one of those before: (steps, position).

    Each earlier plan is continued by one plan at most, and rather by its like than by a part.
    Where few actions are told again and again, beginnings that are alike say nothing.
    """
    places: list[Place | None] = [None] * len(now)
    free = list(range(len(before)))
    for match in (_same, _left, _begun) if beginnings else (_same, _left):
        for number, steps in enumerate(now):
            if places[number] is not None:
                continue
            for old in free:
                position = match(*before[old], steps)
                if position is not None:
                    places[number] = Place(old, position)
                    free.remove(old)
                    break
    return places


def _same(old: Steps, position: int, new: Steps) -> int | None:
    return position if list(old) == list(new) else None


def _left(old: Steps, position: int, new: Steps) -> int | None:
    """What was done is left out. More may have been added."""
    rest = list(old[position:])
    return 0 if position and rest and list(new[: len(rest)]) == rest else None


def _begun(old: Steps, position: int, new: Steps) -> int | None:
    """It begins as far as one has come; what follows may be other steps."""
    passed = list(old[:position])
    begun = len(set(passed)) >= _TELLING and list(new[:position]) == passed
    return position if begun and len(new) > position else None
