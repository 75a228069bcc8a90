"""Where a pattern was carried out, and what else belongs to it: loops, and steps that some left out."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from metamem.core.ids import canonical_json
from metamem.evaluation.statistics.binomial import binomial_tail
from metamem.foundry.words import Use
from metamem.foundry.workflows.composing import files_of
from metamem.foundry.workflows.draft import LEAST, Located
from metamem.foundry.workflows.goals import heard, served
from metamem.foundry.workflows.sequences import GAP, LEVEL, OFTEN, Pattern, place
from metamem.foundry.workflows.shape import essential
from metamem.foundry.workflows.spans import Span

_OFTEN = 0.2  # of the places have a step that the others left out
_NEARLY_ALWAYS = 0.9


@dataclass(frozen=True, slots=True)
class Place:
    """The items of a span that stand for the items of a pattern."""

    span: int
    at: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Extra:
    """A step beside the pattern: in which gap it stands, and how far along there on average."""

    gap: int
    along: float
    item: int


class Board:
    """All spans with the numbers of their items, and which stand where a workflow was carried out."""

    def __init__(self, spans: Sequence[Span], numbers: Sequence[tuple[int, ...]]) -> None:
        self.spans = spans
        self.numbers = numbers
        self.taken: list[set[int]] = [set() for _ in spans]
        self._files: dict[int, list[tuple[str, set[str]]]] = {}

    def times(self, spans: Iterable[int], pattern: Pattern) -> Counter[str]:
        """How often each session has it, counted up to what one session may count."""
        found: Counter[str] = Counter()
        for span in spans:
            session, start = self.spans[span].session, 0
            while found[session] < OFTEN:
                at = place(self.numbers[span], pattern, self.taken[span], start)
                if at is None:
                    break
                found[session] += 1
                start = at[-1] + 1
        return +found

    def places(self, spans: Iterable[int], pattern: Pattern) -> list[Place]:
        """Every place in these spans, none of which share an item."""
        found = []
        for span in sorted(spans):
            taken, start = set(self.taken[span]), 0
            while (at := place(self.numbers[span], pattern, taken, start)) is not None:
                found.append(Place(span, tuple(at)))
                taken.update(at)
                start = at[-1] + 1
        return [one for one in found if not self._redacted(one)]

    def items(self, one: Place) -> list[list[int]]:
        """For each item of the pattern the items that are it, with its repetitions before the next."""
        steps = [[at] for at in one.at]
        for gap, between in enumerate(self._gaps(one)):
            for at in between:
                number = self.numbers[one.span][at]
                if gap > 0 and number == self.numbers[one.span][one.at[gap - 1]]:
                    steps[gap - 1].append(at)
                elif 0 < gap < len(one.at) and number == self.numbers[one.span][one.at[gap]]:
                    steps[gap].append(at)
        return [sorted(step) for step in steps]

    def located(self, one: Place, items: Sequence[Sequence[int]]) -> Located:
        span = self.spans[one.span]
        steps = tuple(
            _distinct(use for at in step for use in span.items[at].uses) for step in items
        )
        uses = [use for step in steps for use in step]
        goal, asked = served(span.prompts, uses), heard(span.prompts, uses)
        mine = {use.id for use in uses}
        made = frozenset(
            f for name, files in self._made(one.span) if name not in mine for f in files
        )
        return Located(span.session, goal, span.success(uses), steps, asked, made)

    def _made(self, span: int) -> list[tuple[str, set[str]]]:
        """The uses of a span that make files, with those."""
        if span not in self._files:
            uses = (use for item in self.spans[span].items for use in item.uses)
            self._files[span] = [(use.id, files) for use in uses if (files := files_of(use))]
        return self._files[span]

    def take(self, one: Place, items: Sequence[Sequence[int]]) -> None:
        """A place with all that stands inside of it: other work is before or after."""
        its = [at for step in items for at in step]
        self.taken[one.span].update(range(min(its), max(its) + 1))

    def with_extras(self, places: Sequence[Place]) -> list[list[list[int]]]:
        """The items of every place, steps that stand between the pattern's often enough included."""
        extras = self._extras(places)
        return [self._filled(one, extras) for one in places]

    def _filled(self, one: Place, extras: Sequence[_Extra]) -> list[list[int]]:
        core, gaps = self.items(one), self._gaps(one)
        numbers = self.numbers[one.span]
        steps: list[list[int]] = []
        for gap in range(len(one.at) + 1):
            after = -1
            for extra in extras:
                if extra.gap == gap:
                    mine = [at for at in gaps[gap] if numbers[at] == extra.item and at > after]
                    after = mine[-1] if mine else after
                    steps.append(mine)
            steps.extend(core[gap : gap + 1])
        return steps

    def _extras(self, places: Sequence[Place]) -> list[_Extra]:
        where: dict[tuple[int, int], list[tuple[str, float]]] = defaultdict(list)
        near: Counter[int] = Counter()  # places that have the item in some gap
        for one in places:
            numbers = self.numbers[one.span]
            neighbours = {numbers[at] for at in one.at}
            seen = set()
            for gap, between in enumerate(self._gaps(one)):
                for along, at in enumerate(between):
                    key = (gap, numbers[at])
                    if numbers[at] not in neighbours and key not in seen:
                        seen.add(key)
                        where[key].append((self.spans[one.span].session, along / len(between)))
            near.update({number for _, number in seen})
        often = {
            key: found
            for key, found in where.items()
            if len(found) >= _OFTEN * len(places) and len({s for s, _ in found}) >= LEAST
        }
        # Noise falls into any gap; a step stands in its own.
        chance = 1 / (len(places[0].at) + 1)
        return sorted(
            (
                _Extra(gap, sum(along for _, along in found) / len(found), item)
                for (gap, item), found in often.items()
                if binomial_tail(len(found), near[item], chance) <= LEVEL / len(often)
                and (not self._looks(places, item) or len(found) >= _NEARLY_ALWAYS * len(places))
            ),
            key=lambda extra: (extra.gap, extra.along, extra.item),
        )

    def _gaps(self, one: Place) -> list[list[int]]:
        """Free items before, between and after the pattern's."""
        length = len(self.numbers[one.span])
        ends = [max(-1, one.at[0] - GAP - 1), *one.at, min(length, one.at[-1] + GAP + 1)]
        taken = self.taken[one.span]
        return [
            [at for at in range(a + 1, b) if at not in taken] for a, b in itertools.pairwise(ends)
        ]

    def _looks(self, places: Sequence[Place], item: int) -> bool:
        return any(
            self.numbers[one.span][at] == item and its.looks
            for one in places
            for at, its in enumerate(self.spans[one.span].items)
        )

    def _redacted(self, one: Place) -> bool:
        """Something was taken out of it: it cannot be done again as it was."""
        items = self.spans[one.span].items
        return any(use.redacted for at in one.at for use in items[at].uses)


def _distinct(uses: Iterable[Use]) -> tuple[Use, ...]:
    """Without what was done before with the same arguments; the last of those counts."""
    kept: dict[str, Use] = {}
    for use in uses:
        kept[canonical_json(essential(use.arguments))] = use
    return tuple(kept.values())
