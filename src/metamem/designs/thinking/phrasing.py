"""How to say what is known. The same knowledge helps or does not by its wording: a whole plan in
numbered steps, each an action word for word, was followed where a description of it was not.

    >>> print(plan(["go east", "take lamp"], about="lamp"))
    lamp:
    1. go east
    2. take lamp
"""

from collections.abc import Iterable, Sequence

from metamem.designs.text import kinds, numbered
from metamem.designs.thinking.frames import parse


def plan(actions: Iterable[str], about: str = "") -> str:
    """Steps to be done in order, under what they are about; nothing where there are none."""
    steps = numbered(actions)
    return f"{about}:\n{steps}" if steps and about else steps


def in_turn(plans: Iterable[Sequence[str]]) -> str:
    """Several whole plans, likeliest first: each is a list of its own, so that one who is led
    astray by the first goes on with the next and finishes by that one.

    >>> print(in_turn([["go east", "open box"], ["go west", "open box"]]))
    1. go east
    2. open box
    <BLANKLINE>
    1. go west
    2. open box
    """
    told = dict.fromkeys(numbered(actions) for actions in plans)
    return "\n\n".join(plan for plan in told if plan)


def places(thing: str, where: Iterable[str]) -> str:
    """The places of one thing, best first, on one line.

    >>> places("lamp", ["desk", "shelf"])
    'lamp: desk, shelf'
    """
    found = ", ".join(dict.fromkeys(where))
    return f"{thing}: {found}" if found else ""


def seen_way(steps: Iterable[tuple[str, str]]) -> str:
    """A way with what is seen before each step, so that one who strays finds himself again.

    >>> print(seen_way([("a wall", "up"), ("a door", "left")]))
    a wall
    1. up
    a door
    2. left
    """
    lines: list[str] = []
    for number, (seen, action) in enumerate(steps, 1):
        if seen.strip():
            lines.append(seen.strip())
        lines.append(f"{number}. {action}")
    return "\n".join(lines)


def quoted(line: str, place: str) -> str:
    """A line as it was read, with the place where it was.

    >>> quoted("turn the wheel twice", "engine room")
    'engine room: "turn the wheel twice"'
    """
    return f'{place}: "{line.strip()}"'


def runs(actions: Iterable[str]) -> str:
    """Steps on one line, repeats counted; short where there are few actions and many steps.

    >>> runs(["up", "up", "left"])
    'up x2, left'
    """
    counted: list[tuple[str, int]] = []
    for action in actions:
        if counted and counted[-1][0] == action:
            counted[-1] = (action, counted[-1][1] + 1)
        else:
            counted.append((action, 1))
    return ", ".join(action if n == 1 else f"{action} x{n}" for action, n in counted)


def once(ways: Sequence[Sequence[str]]) -> str:
    """Ways that differ in where a thing is found, as one: it is to be taken, wherever it is, and the
    kinds of places stand below, the likeliest first.

    >>> print(once([["go to desk", "take pen from desk", "go to bag", "put pen in bag"],
    ...             ["go to shelf", "take pen from shelf", "go to bag", "put pen in bag"]]))
    1. take pen
    2. go to bag with pen
    3. put pen in bag
    <BLANKLINE>
    pen: desk, shelf
    """
    takes = [step for way in ways for step in way if len(parse(step).fillers) > 1][:1]
    if not takes:
        return in_turn(ways)
    verb, thing = takes[0].split(" ")[0], parse(takes[0]).fillers[0]

    def place(step: str) -> str:
        """Where a step takes the thing, if it does."""
        named = parse(step).fillers
        taken = step.split(" ")[0] == verb and len(named) > 1 and named[0] == thing
        return named[-1] if taken else ""

    told: list[str] = []
    for step in carried(ways[0]):
        where = place(step)
        while where and told and parse(told[-1]).fillers[:1] == (where,):
            told.pop()  # it only led there
        told.append(f"{verb} {thing}" if where else step)
    found = [next(filter(None, map(place, way)), "") for way in ways]
    return f"{numbered(told)}\n\n{places(thing, filter(None, map(kinds, found)))}"


def carried(way: Iterable[str]) -> list[str]:
    """The steps after a thing was taken up told as done with it, so that one who has not found it yet
    does not go where it is needed.

    >>> carried(["take pen from desk", "go to bag", "put pen in bag"])
    ['take pen from desk', 'go to bag with pen', 'put pen in bag']
    """
    thing, told = "", list[str]()
    for step in way:
        named = parse(step).fillers
        told.append(f"{step} with {thing}" if thing and thing not in named else step)
        if len(named) > 1:
            thing = thing or named[0]
    return told
