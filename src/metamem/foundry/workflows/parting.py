"""Several chores in one sequence of shapes, told apart by their words.

`sed … core.py; git commit -m "Deprecate …"` and `sed … config.py; git commit -m "Setting …"` have the same
shapes. Where one word in one step always comes with another word in another step, they are two workflows; a
value that differs from time to time is the same word in both.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

from metamem.core.ids import canonical_json
from metamem.foundry.workflows.draft import Located
from metamem.foundry.workflows.shape import essential

_SHARE = 0.2  # of the places at least on either side
_READ = 4_000  # characters of a step in which words are looked for
_WORD = re.compile(r"\\+[A-Za-z]|([^\W\d_]{2,})")  # the letter of an escape is no part of a word


def parted(places: Sequence[Located], least: int) -> list[list[int]]:
    """The numbers of the places that belong together; what fewer sessions have is left out."""
    words = [[_words(place, step) for step in range(len(place.steps))] for place in places]
    return _parted(list(range(len(places))), [p.session for p in places], words, least)


def _parted(
    group: list[int], sessions: Sequence[str], words: Sequence[Sequence[set[str]]], least: int
) -> list[list[int]]:
    if len({sessions[at] for at in group}) < least:
        return []
    side = _side(group, sessions, words, least)
    if side is None:
        return [group]
    parts = [at for at in group if at in side], [at for at in group if at not in side]
    return [one for part in parts for one in _parted(part, sessions, words, least)]


def _side(
    group: Sequence[int], sessions: Sequence[str], words: Sequence[Sequence[set[str]]], least: int
) -> frozenset[int] | None:
    """Places that have one word in one step and another in another, and no others have either."""
    where: dict[tuple[int, str], set[int]] = defaultdict(set)
    for at in group:
        for step, held in enumerate(words[at]):
            for word in held:
                where[step, word].add(at)
    same: dict[frozenset[int], list[tuple[int, str]]] = defaultdict(list)
    for marker, having in where.items():
        rest = set(group) - having
        if all(
            len({sessions[at] for at in side}) >= least and len(side) >= _SHARE * len(group)
            for side in (having, rest)
        ):
            same[frozenset(having)].append(marker)
    sides = [side for side, markers in same.items() if _tell_apart(markers, words, side)]
    return max(sides, key=lambda side: (len(same[side]), sorted(side)), default=None)


def _tell_apart(
    markers: Sequence[tuple[int, str]], words: Sequence[Sequence[set[str]]], side: frozenset[int]
) -> bool:
    """Whether two of the words are each their own step's: a value would be in both steps."""
    return any(
        a != b and u != v and not any(v in words[at][a] or u in words[at][b] for at in side)
        for a, u in markers
        for b, v in markers
    )


def _words(place: Located, step: int) -> set[str]:
    said = canonical_json(essential(place.steps[step][0].arguments))
    return set(filter(None, _WORD.findall(said[:_READ])))
