"""How to say what is known. The same knowledge helps or does not by its wording: a whole plan in
numbered steps, each an action word for word, was followed where a description of it was not.

    >>> print(plan(["go east", "take lamp"], about="lamp"))
    lamp:
    1. go east
    2. take lamp
"""

from collections.abc import Iterable, Sequence

from metamem.designs.text import numbered


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
