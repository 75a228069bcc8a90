"""What an edit makes of a fact: its text goes through the same preparation as any other."""

from typing import Any

from metamem.core.access import Caller
from metamem.core.errors import UsageError
from metamem.core.tokens import count_tokens
from metamem.service.words import TRUST, TYPES, Change, Fact, known_type
from metamem.service.writing.dates import meant
from metamem.service.writing.entities import MOST, entities
from metamem.service.writing.fields import Fields, share, told
from metamem.service.writing.junk import refusal
from metamem.service.writing.prepare import digest
from metamem.service.writing.speaking import PINS, may_pin, told_by, word
from metamem.service.writing.trust import is_quarantined, strength
from metamem.service.writing.turns import turn_digest

_ASK = "a person can do that"


def edited(
    fact: Fact, change: Change, caller: Caller
) -> tuple[dict[str, Any], tuple[str, ...] | None]:
    """The columns that become other ones, and all names where the text does. It stays as far
    believed as it was, and no further than whoever changes the words: that makes them another's claim."""
    columns: dict[str, Any] = {}
    names: tuple[str, ...] | None = None
    if change.text is not None:
        text = Fields().text(change.text)
        if text != fact.text:
            columns |= _columns_of(fact, text)
            names = _names(fact, text)
            source = word(caller, fact.source)
            columns["told_by"] = told_by(caller, fact.author)
            columns |= {"source": source, "trust": min(fact.trust, TRUST[source])}
    if change.type is not None and change.type != fact.type:
        if change.type not in TYPES:
            known_type(told(change.type).strip("'"))
        if "turn" in (change.type, fact.type):
            raise UsageError("a line of a conversation stays one, and nothing else becomes one")
        if (
            change.type == "instruction"
            and caller.kind == "agent"
            and strength(change.text or fact.text)
        ):
            raise UsageError("an agent's key makes no standing instruction of a text", hint=_ASK)
        columns["type"] = change.type
    if change.importance is not None:
        columns["importance"] = share(change.importance, "importance")
    if change.pinned is not None:
        columns["pinned"] = bool(change.pinned)
    _check_pin(fact, change, caller, columns)
    columns = {name: value for name, value in columns.items() if _before(fact, name) != value}
    if not columns:
        raise UsageError(f"{fact.id} is like that already", hint="say what to change")
    if change.text is not None or "type" in columns:
        given = columns.get("text", fact.text) if change.text is None else change.text
        kept = is_quarantined(
            columns.get("trust", fact.trust),
            columns.get("type", fact.type),
            given,
            (fact.author, fact.origin, *fact.entities),
        )
        if kept != fact.quarantined:
            columns["quarantined"] = kept
    return columns, names


def _check_pin(fact: Fact, change: Change, caller: Caller, columns: dict[str, Any]) -> None:
    """What an agent makes of a pinned text may not head what others begin with any more."""
    texts = (change.text or "", columns.get("text", fact.text), fact.origin, *fact.entities)
    if may_pin(caller, columns.get("trust", fact.trust), texts):
        return
    if change.pinned and not fact.pinned:
        raise UsageError(PINS, hint=_ASK)
    if "text" in columns or "type" in columns:
        columns["pinned"] = False


def _before(fact: Fact, name: str) -> Any:
    return getattr(fact, name, None)


def _columns_of(fact: Fact, text: str) -> dict[str, Any]:
    if fact.type == "turn":
        if not text:
            raise UsageError("it is empty", hint="`forget` takes a fact out of recall")
        made = turn_digest(fact.session, fact.author, text)
    else:
        if (reason := refusal(text)) != "":
            raise UsageError(f"that is not kept: {reason}")
        made = digest(text)
    since, until = meant(text, fact.said_at)
    if since is None and (fact.meant_from, fact.meant_to) != meant(fact.text, fact.said_at):
        since, until = fact.meant_from, fact.meant_to  # were given, not found in the text
    return {
        "text": text,
        "digest": made,
        "tokens": count_tokens(text),
        "meant_from": since,
        "meant_to": until,
    }


def _names(fact: Fact, text: str) -> tuple[str, ...]:
    """Those of the new text, and those that did not come from the old one."""
    found = entities(fact.text)
    given = [name for name in fact.entities if name not in found and name in text.lower()]
    return tuple(dict.fromkeys((*entities(text), *given)))[:MOST]
