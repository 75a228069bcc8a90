"""Turns of a conversation made ready to be kept, and matched with those that are there already.

A turn is known by the id that its host gave it. Where it has none, the given turns are laid along the
known ones: they are the same conversation from its beginning, a piece of it, or what comes next. So
the same turns again add nothing, and pieces never write over each other.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from metamem.core.access import Caller
from metamem.core.ids import content_id
from metamem.core.tokens import count_tokens
from metamem.service.marks import around, is_fenced
from metamem.service.words import TRUST, TYPES, Turn
from metamem.service.writing.clean import clean
from metamem.service.writing.dates import meant
from metamem.service.writing.entities import entities
from metamem.service.writing.fields import LONGEST, NAME, Fields, identifier, known_source, moment
from metamem.service.writing.prepare import Prepared, Refused
from metamem.service.writing.speaking import told_by, word
from metamem.service.writing.trust import is_quarantined

PART = 4000  # characters of a fact that holds a turn; a longer turn becomes several
MOST = LONGEST  # characters of a turn
_BREAKS = (
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"[.!?。！？]\s"),
    re.compile(r"\s"),
)


@dataclass(frozen=True, slots=True)
class PreparedTurn:
    """A turn as facts: one, or several parts."""

    key: str  # the host's id, "" where it has none
    speaker: str
    said_at: int | None  # as it was given
    parts: tuple[Prepared, ...]
    notes: tuple[str, ...] = ()

    @property
    def digests(self) -> tuple[str, ...]:
        return tuple(part.digest for part in self.parts)


@dataclass(frozen=True, slots=True)
class KnownTurn:
    """A turn that is there, by its parts: ids of facts, digests of what they say or said once."""

    key: str
    speaker: str
    said_at: int
    facts: tuple[str, ...]
    digests: tuple[frozenset[str], ...]  # of each part: of its text now and of every version


def prepare_turn(session: str, turn: Turn, caller: Caller, when: int) -> PreparedTurn | Refused:
    """`when`: the time that it was said, where it does not tell itself."""
    source = word(caller, known_source(turn.source))
    said = moment(turn.said_at, "said_at")
    fields, notes = Fields(), []
    key = identifier(turn.id)
    speaker = fields.line(turn.speaker, NAME) or turn.source
    given = turn.text
    if isinstance(given, str) and is_fenced(given):
        given = around(given)
        notes.append("what memory told was left out of a turn")
    text = fields.text(given, MOST)
    if len(clean(given)) > MOST:
        notes.append(f"a turn of {len(given)} characters was cut to {len(text)}")
    if not text:
        why = "it is what memory told, coming back" if notes else "it is empty"
        return Refused(why, fields.redacted)
    trust = TRUST[source]
    quarantined = is_quarantined(trust, "turn", turn.text, (turn.speaker, turn.id))
    pieces = split(text)
    if len(pieces) > 1:
        notes.append(f"a turn of {len(text)} characters was split into {len(pieces)} parts")
    parts = []
    for number, piece in enumerate(pieces, start=1):
        since, until = meant(piece, when if said is None else said)
        parts.append(
            Prepared(
                type="turn",
                text=piece,
                digest=turn_digest(session, speaker, piece),
                author=speaker,
                source=source,
                origin=f"{key}#{number}",
                trust=trust,
                quarantined=quarantined,
                said_at=when if said is None else said,
                meant_from=since,
                meant_to=until,
                importance=TYPES["turn"].importance,
                session=session,
                position=0,  # given when its place is known
                tokens=count_tokens(piece),
                pinned=False,
                entities=entities(piece),
                redacted=fields.redacted,
                supersedes="",
                told_by=told_by(caller, speaker),
            )
        )
    return PreparedTurn(key, speaker, said, tuple(parts), tuple(notes))


def turn_digest(session: str, speaker: str, text: str) -> str:
    """Of a line in its conversation: the same words elsewhere are another line."""
    return content_id("turn", session, speaker, text)


def split(text: str) -> list[str]:
    """Pieces that fit, cut where paragraphs, lines, sentences or words end. None loses anything."""
    pieces = []
    while len(text) > PART:
        at = _break(text)
        if piece := text[:at].rstrip():
            pieces.append(piece)
        text = text[at:].lstrip()
    return [*pieces, text] if text else pieces


def _break(text: str) -> int:
    for pattern in _BREAKS:
        ends = [found.end() for found in pattern.finditer(text, PART // 2, PART)]
        if ends:
            return ends[-1]
    return PART


# --- which are new ---


def known_turns(
    rows: Sequence[tuple[str, str, str, int]], digests: Mapping[str, frozenset[str]]
) -> list[KnownTurn]:
    """Rows of (fact, origin, author, said_at) in the order of their positions, as turns."""
    found: list[KnownTurn] = []
    for fact, origin, author, said_at in rows:
        key, _, number = origin.rpartition("#")
        last = found[-1] if found else None
        if last is not None and number != "1" and number.isdigit() and last.key == key:
            found[-1] = replace(
                last, facts=(*last.facts, fact), digests=(*last.digests, digests[fact])
            )
        else:
            found.append(KnownTurn(key, author, said_at, (fact,), (digests[fact],)))
    return found


def matched(
    given: Sequence[PreparedTurn], known: Sequence[KnownTurn]
) -> list[tuple[PreparedTurn, KnownTurn | None]]:
    """Each given turn with the known one that it is."""
    by_key = {turn.key: turn for turn in known if turn.key}
    keyless = [turn for turn in known if not turn.key]
    bare = [turn for turn in given if not turn.key]
    start = _place(bare, keyless)
    laid = {id(turn): at for at, turn in enumerate(bare, start=start)}
    result: list[tuple[PreparedTurn, KnownTurn | None]] = []
    for turn in given:
        if turn.key:
            result.append((turn, by_key.get(turn.key)))
        else:
            at = laid[id(turn)]
            result.append((turn, keyless[at] if at < len(keyless) else None))
    return result


def same(turn: PreparedTurn, known: KnownTurn) -> bool:
    """Whether a known turn says, or said once, what is given."""
    if len(turn.parts) > len(known.digests) or turn.speaker != known.speaker:
        return False
    if turn.said_at is not None and not turn.key and turn.said_at != known.said_at:
        return False
    return all(d in old for d, old in zip(turn.digests, known.digests, strict=False))


def _place(given: Sequence[PreparedTurn], known: Sequence[KnownTurn]) -> int:
    """At which of the known turns the given ones begin; their number, where they come after all."""
    if not given:
        return len(known)
    for start in range(len(known)):
        if all(same(turn, old) for turn, old in zip(given, known[start:], strict=False)):
            return start
    # The conversation from its beginning, with lines that were changed meanwhile.
    pairs = list(zip(given, known, strict=False))
    equal = sum(same(turn, old) for turn, old in pairs)
    alike = equal * 2 >= len(pairs) and same(given[0], known[0]) if pairs else False
    return 0 if alike and all(t.speaker == o.speaker for t, o in pairs) else len(known)
