"""Which facts of a catalog a question allows, whatever they say."""

import numpy as np

from metamem.core.errors import UsageError
from metamem.service.recall.catalog import Catalog, Flags
from metamem.service.recall.columns import TYPE_CODES
from metamem.service.words import Ask, known_span, known_type

MOST = 100  # facts of an answer
LONGEST, ENDING = 2000, 800  # characters of a question that are looked at; of those, at its end
EVIDENCE = "turn"


def check(ask: Ask) -> None:
    """Refuse what cannot be asked, in clear words."""
    if not ask.query.strip():
        raise UsageError("an empty question finds nothing", hint="say what you look for")
    if not 1 <= ask.limit <= MOST:
        raise UsageError(f"an answer has 1 to {MOST} facts, not {ask.limit}")
    if ask.tokens < 0:
        raise UsageError(f"{ask.tokens} tokens are not a budget")
    for name in ask.types:
        known_type(name)
    known_span(ask.since, ask.until)


def essence(query: str) -> str:
    """What is looked at of a question. Prompts with a file in them say at one end what they want;
    every word costs time and memory, and whoever asks decides how many there are."""
    if len(query) <= LONGEST:
        return query
    return f"{query[: LONGEST - ENDING]} {query[-ENDING:]}"


def allowed(ask: Ask, catalog: Catalog) -> Flags | None:
    """A flag for each fact; None where all are allowed."""
    conditions: list[Flags] = []
    if ask.types:
        codes = [TYPE_CODES[name] for name in ask.types]
        conditions.append(np.isin(catalog.type, codes))
    if not ask.evidence:
        conditions.append(catalog.type != TYPE_CODES[EVIDENCE])
    if not ask.quarantined:
        conditions.append(~catalog.quarantined)
    if ask.since is not None or ask.until is not None:
        at = np.where(catalog.meant_from >= 0, catalog.meant_from, catalog.said_at)
        conditions += [at >= ask.since] if ask.since is not None else []
        conditions += [at <= ask.until] if ask.until is not None else []
    if ask.speaker:
        wanted = ask.speaker.casefold()
        named = np.array([wanted == name.casefold() for name in catalog.authors], np.bool_)
        conditions.append(named[catalog.author])
    return np.logical_and.reduce(conditions) if conditions else None
