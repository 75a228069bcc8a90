"""How things are called in the game text, and how lists of them read."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

SEPARATOR = "_bar_"


def display_names(ids: Iterable[str]) -> dict[str, str]:
    """`base number` for every id that has a separator.

    Numbers run *down* in id order within a base name: the first id gets the highest number.
    """
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for identifier in sorted(ids):
        base, separator, _ = identifier.partition(SEPARATOR)
        if separator:
            groups[base + "basin" if "basin" in identifier else base].append(identifier)
    return {
        identifier: f"{base} {len(members) - position}"
        for base, members in groups.items()
        for position, identifier in enumerate(members)
    }


def listing(items: Sequence[str]) -> str:
    """`nothing`, `x`, `x, and y`, `x, y, and z`."""
    if not items:
        return "nothing"
    if len(items) == 1:
        return items[0]
    return ", ".join(items[:-1]) + ", and " + items[-1]
