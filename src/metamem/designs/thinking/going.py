"""Where one is on a way, and what comes next: for memories that are asked again while acting.

>>> desk = ["go to desk 1", "take pen from desk 1", "go to bag 1", "put pen in bag 1"]
>>> shelf = ["go to shelf 1", "take pen from shelf 1", "go to bag 1", "put pen in bag 1"]
>>> next_step([shelf, desk], ["go to desk 1"], ["take pen 2 from desk 1", "go to shelf 1"])
'take pen 2 from desk 1'
>>> next_step([shelf, desk], ["go to desk 1"], ["go to bag 1", "go to shelf 1"])  # no pen there
'go to shelf 1'
"""

from collections.abc import Callable, Sequence

from metamem.designs.text import kinds
from metamem.designs.thinking.frames import parse

Leads = Callable[[str, str], bool]


def meets(step: str, action: str) -> bool:
    """Whether an action is what a step asks for: where the step names a kind, any of that kind.

    >>> meets("take pen from desk 1", "take pen 2 from desk 1")
    True
    >>> meets("take pen from desk 1", "take pen 2 from desk 3")
    False
    """
    wanted, found = parse(step), parse(action)
    if wanted.frame != found.frame or len(wanted.fillers) != len(found.fillers):
        return False
    pairs = zip(wanted.fillers, found.fillers, strict=True)
    return all(want in (got, kinds(got)) for want, got in pairs)


def nothing_leads(step: str, after: str) -> bool:
    return False


def next_step(
    ways: Sequence[Sequence[str]],
    done: Sequence[str],
    possible: Sequence[str],
    leads: Leads = nothing_leads,
) -> str:
    """The possible action that goes on with the way on which most was done, the first of equals;
    empty where all are over or cannot be gone on with.

    `leads` says of two steps that the first only makes the second possible: it may be left out.

    >>> opens = lambda step, after: step.startswith("open")
    >>> next_step([["open box", "take pen"]], [], ["take pen"], opens)
    'take pen'
    """
    best, found = -1, ""
    for way in ways:
        at = 0
        for action in done:
            at = next((n + 1 for n in _open(way, at, leads) if meets(way[n], action)), at)
        if at > best and (action := _possible(way, at, possible, leads)):
            best, found = at, action
    return found


def _possible(way: Sequence[str], at: int, possible: Sequence[str], leads: Leads) -> str:
    for n in _open(way, at, leads):
        if found := next((action for action in possible if meets(way[n], action)), ""):
            return found
    return ""


def _open(way: Sequence[str], at: int, leads: Leads) -> range:
    """The steps that may come next: the one at hand, and those that it only leads to."""
    last = at
    while last + 1 < len(way) and leads(way[last], way[last + 1]):
        last += 1
    return range(at, min(last + 1, len(way)))
