"""A draft made ready to be kept: what it says, of what and when, how far it can be believed.

No database and no model is needed for that. Secrets are taken out before anything else sees the text.
"""

import unicodedata
from dataclasses import dataclass, fields
from typing import Any

from metamem.core.access import Caller
from metamem.core.errors import UsageError
from metamem.core.ids import content_id
from metamem.core.tokens import count_tokens
from metamem.service.words import TRUST, TYPES, Draft, known_type
from metamem.service.writing.clean import DATA
from metamem.service.writing.dates import meant
from metamem.service.writing.entities import LONGEST, entities
from metamem.service.writing.fields import LONGEST as LARGEST
from metamem.service.writing.fields import NAME, PLACE, Fields, known_source, moment, share, told
from metamem.service.writing.junk import refusal
from metamem.service.writing.speaking import PINS, may_pin, told_by, word
from metamem.service.writing.trust import is_quarantined

MOST_ABOUT = 20  # facts that one is drawn from
NOT_PINNED = "what a tool or an outsider says does not pin itself: keep it without, then edit it"

DATA_OUT = "long runs of data were taken out of it: [data] stands in their place"
NOT_PINNED_BY_AGENT = f"{PINS}: keep it without, a person can pin it"


@dataclass(frozen=True, slots=True)
class Refused:
    """A draft that is not kept, and why."""

    reason: str
    redacted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prepared:
    """All columns of a fact but its id."""

    type: str
    text: str
    digest: str
    author: str
    source: str
    origin: str
    trust: int
    quarantined: bool
    said_at: int
    meant_from: int | None
    meant_to: int | None
    importance: float
    session: str
    position: int
    tokens: int
    pinned: bool
    entities: tuple[str, ...]
    redacted: tuple[str, ...]
    supersedes: str
    about: tuple[str, ...] = ()
    told_by: str = ""
    note: str = ""  # what whoever wrote it should know

    def to_body(self, fact_id: str) -> dict[str, Any]:
        """As the event log keeps it."""
        body: dict[str, Any] = {name: getattr(self, name) for name in _KEPT}
        return body | {"id": fact_id, "entities": sorted(set(self.entities))}


_NOT_KEPT = ("redacted", "note", "supersedes", "about")  # links say the latter two
_KEPT = tuple(f.name for f in fields(Prepared) if f.name not in _NOT_KEPT)


def prepare(draft: Draft, caller: Caller, now: int) -> Prepared | Refused:
    """A draft as it will be kept, or why it will not. `UsageError` where it makes no sense at all."""
    if draft.type not in TYPES:
        known_type(told(draft.type).strip("'"))
    source = word(caller, known_source(draft.source))
    if (
        isinstance(draft.text, str) and len(draft.text) > LARGEST
    ):  # not worth the search of all of it
        return Refused(f"it has {len(draft.text)} characters: split it, or ingest it")
    given = Fields()
    text = given.text(draft.text)
    author = given.line(draft.author, NAME) or caller.who
    origin = given.line(draft.origin, PLACE)
    names = given.lines(draft.entities, LONGEST)
    said = moment(draft.said_at, "said_at")
    said = now if said is None else said
    since, until = moment(draft.meant_from, "meant_from"), moment(draft.meant_to, "meant_to")
    if since is not None and until is not None and since > until:
        raise UsageError("what is meant ends before it begins: meant_to is before meant_from")
    if (reason := refusal(text)) != "":
        return Refused(reason, given.redacted)
    if draft.pinned and TRUST[source] < TRUST["agent"]:
        return Refused(NOT_PINNED, given.redacted)
    if since is None and until is None:
        since, until = meant(text, said)
    usual = TYPES[draft.type].importance
    others = (draft.author, draft.origin, *draft.entities)
    if draft.pinned and not may_pin(caller, TRUST[source], (draft.text, *others)):
        return Refused(NOT_PINNED_BY_AGENT, given.redacted)
    return Prepared(
        type=draft.type,
        text=text,
        digest=digest(text),
        author=author,
        source=source,
        origin=origin,
        trust=TRUST[source],
        quarantined=is_quarantined(TRUST[source], draft.type, draft.text, others),
        said_at=said,
        meant_from=since,
        meant_to=until,
        importance=usual if draft.importance is None else share(draft.importance, "importance"),
        session="",
        position=0,
        tokens=count_tokens(text),
        pinned=bool(draft.pinned),
        entities=entities(text, names),
        redacted=given.redacted,
        supersedes=given.line(draft.supersedes, NAME),
        about=tuple(given.line(fact, NAME) for fact in draft.about[:MOST_ABOUT]),
        told_by=told_by(caller, author),
        note=DATA_OUT if len(DATA.findall(text)) > len(DATA.findall(draft.text)) else "",
    )


def digest(text: str) -> str:
    """Equal for texts that differ in letter case, spaces and the last full stop alone."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return content_id(" ".join(plain.split()).rstrip(" .!;"))
