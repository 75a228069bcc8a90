"""Corrections told in a conversation, tied to the lines that they correct.

Lines are evidence and stay, but whoever recalls the older one must be told the newer one first
(`metamem.service.recall.corrections`). A few lines of the same conversation before a refusal are what it
most likely means; others are held against it as facts are. One that names nothing but a port or an
owner means the one that its scope knows.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from metamem.core.access import Caller
from metamem.service import changing
from metamem.service.writing.candidates import COMPARED, Fresh, Looked, Older, near, searched_terms
from metamem.service.writing.similar import STRONG, compare
from metamem.service.writing.statement import ATTRIBUTES, Statement, statement
from metamem.service.writing.told import correction
from metamem.store.engine import Execute

BEFORE = 4  # lines of the conversation that are looked at
MOST = 3  # lines that one correction is tied to
LEAST = 0.6  # weight of a relation by words alone


def tie(
    execute: Execute, scope: int, caller: Caller, session: str, bodies: Sequence[Mapping[str, Any]]
) -> None:
    """Link what users corrected in new lines, which are entered, with what it corrects."""
    for body in bodies:
        if body["source"] != "user" or body["quarantined"]:
            continue
        said = correction(body["text"])
        if not said:
            continue
        new = Statement(said)
        weights: dict[str, float] = {}
        for older in _before(execute, scope, session, body["position"]):
            if _means(new, older.statement):
                weights[older.id] = STRONG
                break  # the nearest
        alike = near(Looked(execute, scope, turns=True), searched_terms(said), Fresh(), 1)
        others = [older for older in alike if older.id != body["id"]]
        if new.content - new.numbers <= ATTRIBUTES:  # the limit, the owner: of what, is not said
            if not weights and len(alike) < COMPARED:  # else there are others
                weights = {older.id: STRONG for older in _only(new, others)}
        else:
            for older in others:
                relation = compare(new, older.statement, correction=True)
                if relation is not None and relation.kind == "supersedes":
                    weights[older.id] = max(relation.weight, weights.get(older.id, 0.0))
        best = sorted(weights.items(), key=lambda one: -one[1])[:MOST]
        for target, weight in best:
            if weight >= LEAST:
                changing.linked(
                    execute, scope, body["id"], target, "contradicts", weight, by=caller.who
                )


def _before(execute: Execute, scope: int, session: str, position: int) -> list[Older]:
    rows = execute(
        "SELECT id, text, trust FROM facts WHERE scope = ? AND session = ? AND type = 'turn'"
        " AND position >= ? AND position < ? AND lifecycle = 'active' ORDER BY position DESC",
        (scope, session, position - BEFORE, position),
    )
    return [Older(fact, statement(text), trust) for fact, text, trust in rows]


def _means(new: Statement, old: Statement) -> bool:
    """Whether a refusal speaks of what was just said: of something that has one value, or in many of
    its words."""
    shared = new.content & old.content
    if shared & ATTRIBUTES and new.numbers != old.numbers:
        return True
    return len(shared) >= 2 and new.content != old.content


def _only(new: Statement, others: Sequence[Older]) -> list[Older]:
    """The lines that tell the one other value which a scope knows of what a correction names: "the
    port is 5433 now", where only one port was ever spoken of. None where it could be one of several."""
    named = new.content - new.numbers
    told = [one for one in others if named <= one.statement.content and one.statement.numbers]
    values = {older.statement.numbers for older in told}
    known = bool(named and new.numbers) and len(values) == 1 and new.numbers not in values
    return told if known else []
