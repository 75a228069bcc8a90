"""What was corrected is told after what corrected it, however well either fits the question."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from metamem.service import facts
from metamem.service.recall.scoring import Scored
from metamem.service.sight import Sight
from metamem.service.words import Ask, Fact
from metamem.store.engine import Execute

DEEP = 3  # corrections of corrections
CORRECTING = ("turn", "correction")  # types that say so in their words; others are only suspected

Shown = tuple[Scored, Fact]
Numbered = tuple[int, Fact]


def corrected_first(
    execute: Execute, view: Sight, ask: Ask, shown: Sequence[Shown]
) -> tuple[list[Shown], dict[int, str]]:
    """The answer with each correction before what it corrects, brought in where it is not there; and
    the ids of what was corrected, by the numbers of the corrections."""
    newer: dict[int, list[Numbered]] = {}  # by what they correct
    level = {each.number: fact for each, fact in shown}
    for _ in range(DEEP):
        found = _corrections(execute, view, ask, level)
        newer |= found
        level = {n: f for several in found.values() for n, f in several if n not in newer}
    order: list[Shown] = []
    placed: set[int] = set()
    corrects: dict[int, str] = {}

    def place(scored: Scored, fact: Fact) -> None:
        if scored.number in placed:
            return
        placed.add(scored.number)
        for number, correction in newer.get(scored.number, ()):
            corrects.setdefault(number, fact.id)
            # It is as relevant as what it corrects, whatever its own words have of the question.
            place(replace(scored, number=number, text=correction.text), correction)
        order.append((scored, fact))

    for scored, fact in shown:
        place(scored, fact)
    return order[: ask.limit], corrects


def _corrections(
    execute: Execute, view: Sight, ask: Ask, older: Mapping[int, Fact]
) -> dict[int, list[Numbered]]:
    """Facts that correct some of these, by the numbers of those, the newest first; only what the
    question allows."""
    if not older:
        return {}
    rows = execute(
        "SELECT source, target FROM links WHERE kind IN ('contradicts', 'supersedes') AND target IN"
        f" ({', '.join('?' * len(older))})",
        list(older),
    )
    known = facts.by_number(execute, view, sorted({source for source, _ in rows}))
    found: dict[int, list[Numbered]] = {}
    for source, target in rows:
        fact = known.get(source)
        if fact is not None and _allowed(ask, fact) and fact.said_at >= older[target].said_at:
            found.setdefault(target, []).append((source, fact))
    for several in found.values():
        several.sort(key=lambda one: (-one[1].said_at, -one[0]))
    return found


def _allowed(ask: Ask, fact: Fact) -> bool:
    if fact.lifecycle != "active" or fact.type not in CORRECTING:
        return False
    if (ask.types and fact.type not in ask.types) or (fact.type == "turn" and not ask.evidence):
        return False
    if fact.quarantined and not ask.quarantined:
        return False
    at = fact.said_at if fact.meant_from is None else fact.meant_from
    if (ask.since is not None and at < ask.since) or (ask.until is not None and at > ask.until):
        return False
    return not ask.speaker or ask.speaker.casefold() == fact.author.casefold()
