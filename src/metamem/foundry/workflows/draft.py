"""One workflow out of the places where it was carried out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from metamem.core.ids import canonical_json
from metamem.foundry.words import Occurrence, Step, Use, Workflow
from metamem.foundry.workflows.antiunify import Generalised, generalise
from metamem.foundry.workflows.composing import composed, spellings
from metamem.foundry.workflows.flows import find_flows
from metamem.foundry.workflows.goals import goal_of, wording
from metamem.foundry.workflows.shape import essential, shape

LEAST = 3  # sessions that must have done it


@dataclass(frozen=True, slots=True)
class Located:
    """One place where it was done: the uses of each step, none where it was left out."""

    session: str
    goal: str
    success: bool
    steps: tuple[tuple[Use, ...], ...]
    asked: str = ""  # all that the user had said by then
    made: frozenset[str] = frozenset()  # files that the session made otherwise

    @property
    def uses(self) -> tuple[Use, ...]:
        return tuple(use for step in self.steps for use in step)


def drafted(places: Sequence[Located], least: int = LEAST) -> Workflow | None:
    """The workflow that these places have in common; None where that is less than two steps."""
    found = _even([*_steadied(places)], least)
    # What only looks is no step, unless a later one needs what it shows; nor is what is composed anew.
    while found and _always(found) > 1:
        general = generalise(_arguments(found))
        if general is None:
            return None
        done = [place.steps for place in found]
        goals = [place.asked or place.goal for place in found]
        come = find_flows(general.steps, general.parameters, general.values, done, goals)
        alike = _spelled_alike(found, general, least)
        if len(alike) < len(found):
            found = alike
            continue
        idle = composed(general.steps, general.values, come.given, done, [p.made for p in found])
        if not idle:
            needed = {*(flow.step for flow in come.flows.values()), *come.showing}
            every = range(len(general.steps))
            idle = {at for at in every if at not in needed and _looks(found, at)}
        if not idle:
            if not any(all(p.steps[at] for p in found) and not _looks(found, at) for at in every):
                return None  # all that they have in common is looking
            named = [replace(p, flow=come.flows.get(p.name)) for p in general.parameters]
            return _workflow(found, replace(general, parameters=tuple(named)))
        found = [
            replace(p, steps=tuple(s for at, s in enumerate(p.steps) if at not in idle))
            for p in found
        ]
    return None


def _steadied(places: Sequence[Located]) -> Sequence[Located]:
    """Of looks of one shape in a row, the one that all have: others looked at something else besides."""
    for at in range(len(places[0].steps) if places else 0):
        column = [place.steps[at] for place in places]
        if max(map(len, column)) < 2 or not _looks(places, at):
            continue
        said = [
            {canonical_json(essential(use.arguments)) for use in uses} for uses in column if uses
        ]
        common = set.intersection(*said)
        if common:
            places = [_only(place, at, common) for place in places]
    return places


def _only(place: Located, at: int, wanted: set[str]) -> Located:
    kept = tuple(u for u in place.steps[at] if canonical_json(essential(u.arguments)) in wanted)
    return replace(place, steps=(*place.steps[:at], kept, *place.steps[at + 1 :]))


def _spelled_alike(places: list[Located], general: Generalised, least: int) -> list[Located]:
    """Without places where something is written in another way than usual (`ssl/` for `ssl`): nobody
    would give that as a value."""
    for parameter in general.parameters:
        usual = spellings(parameter.name, general.values)[:1]
        rows = zip(places, general.values, strict=True)
        kept = [p for p, row in rows if row.get(parameter.name, *usual) in usual]
        if usual and len({place.session for place in kept}) >= least:
            return kept
    return places


def _always(places: Sequence[Located]) -> int:
    """How many steps nobody left out."""
    return sum(all(place.steps[at] for place in places) for at in range(len(places[0].steps)))


def _even(places: list[Located], least: int) -> list[Located]:
    """Places whose loops are loops. What was done several times with several values is several steps."""
    at = 0
    while places and at < len(places[0].steps):
        counts = Counter(len(place.steps[at]) for place in places)
        if not any(counts.elements()):  # nobody did it
            places = [_unrolled(place, at, 0) for place in places]
            continue
        if max(counts) > 1 and not _is_loop(places, at):
            usual = max((c for c in counts if c), key=lambda count: (counts[count], -count))
            places = [p for p in places if len(p.steps[at]) in (0, usual)]
            if len({place.session for place in places}) < least:
                return []
            if usual > 1:
                places = [_unrolled(place, at, usual) for place in places]
        at += 1
    return places


def _is_loop(places: Sequence[Located], at: int) -> bool:
    return generalise([[done] for done in _column(places, at)]) is not None


def _column(places: Sequence[Located], at: int) -> list[list[dict[str, object]]]:
    return [[essential(use.arguments) for use in place.steps[at]] for place in places]


def _unrolled(place: Located, at: int, count: int) -> Located:
    uses = place.steps[at]
    alone = [(use,) for use in uses] if uses else [()] * count
    return replace(place, steps=(*place.steps[:at], *alone, *place.steps[at + 1 :]))


def _arguments(places: Sequence[Located]) -> list[list[list[dict[str, object]]]]:
    return [[[essential(u.arguments) for u in step] for step in p.steps] for p in places]


def _looks(places: Sequence[Located], at: int) -> bool:
    return all(shape(use).looks for place in places for use in place.steps[at])


def _workflow(places: Sequence[Located], general: Generalised) -> Workflow:
    steps = []
    for at, template in enumerate(general.steps):
        column = [place.steps[at] for place in places]
        tool = next(uses[0].tool for uses in column if uses)
        steps.append(Step(tool, template, not all(column), general.each[at]))
    occurrences = (
        Occurrence(
            place.session,
            tuple(use.id for use in place.uses),
            values,
            place.success and not any(use.failed for use in place.uses),
        )
        for place, values in zip(places, general.values, strict=True)
    )
    said = [wording(p.goal, v) for p, v in zip(places, general.values, strict=True)]
    return Workflow(goal_of(said), tuple(steps), general.parameters, tuple(occurrences))
