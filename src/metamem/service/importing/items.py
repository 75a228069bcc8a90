"""Notes and exports become facts, piece by piece; read again, only what changed changes.

A piece that is new is remembered, one that was edited supersedes what it was, and one that is gone
from its source is archived. What a person did to a fact meanwhile is not undone.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from metamem.core.errors import UnknownName
from metamem.core.ids import content_id
from metamem.service.contract import Memories
from metamem.service.importing.places import Item, Places
from metamem.service.words import Draft, Fact
from metamem.service.writing.fields import PLACE, Fields

ALIKE = 0.6  # of two texts, that one may be the other after an edit
AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing that a source says. Its key is the source's own id, or stands for its words."""

    key: str
    draft: Draft

    @property
    def digest(self) -> str:
        return content_id(self.draft.type, self.draft.text)


@dataclass(frozen=True, slots=True)
class Brought:
    """What became of a source's pieces."""

    source: str
    scope: str
    new: int = 0
    changed: int = 0
    same: int = 0
    gone: int = 0
    refused: tuple[str, ...] = ()  # why
    known: int = 0  # new pieces of which memory holds the very words, from elsewhere
    damaged: int = 0  # lines or entries of the source that could not be read


def bring(
    memories: Memories,
    places: Places,
    scope: str,
    source: str,
    pieces: Sequence[Piece],
    others: Collection[str] = (),
) -> Brought:
    """Make what is kept of a source what the source says now. `others` are keys of pieces that it has, too,
    and that are left as they are."""
    known = places.items(source, scope)
    wanted = {piece.key: piece for piece in pieces}
    same = [
        key for key, piece in wanted.items() if key in known and known[key].digest == piece.digest
    ]
    fresh = [piece for key, piece in wanted.items() if key not in same]
    gone = {key: item for key, item in known.items() if key not in {*wanted, *others}}
    before = _edited(memories, fresh, known, gone)
    refused: list[str] = []
    changed = known_already = 0
    for start in range(0, len(fresh), AT_ONCE):
        part = fresh[start : start + AT_ONCE]
        drafts = [_draft(piece, before.get(piece.key)) for piece in part]
        for piece, draft, written in zip(
            part, drafts, memories.remember(scope, drafts), strict=True
        ):
            if written.outcome == "refused":
                refused.append(written.reason)
                continue
            own = written.outcome == "stored" or _origin(memories, written.id) == _kept(
                draft.origin
            )
            places.set_item(source, scope, piece.key, Item(piece.digest, written.id, own))
            changed += bool(draft.supersedes)
            known_already += written.outcome == "duplicate" and not draft.supersedes
    replaced = {fact.id for fact in before.values()}
    for key, item in gone.items():
        if item.own and item.fact not in replaced:
            _forget(memories, item.fact)
        places.drop_item(source, scope, key)
    new = len(fresh) - len(refused) - changed - known_already
    lost = sum(item.fact not in replaced for item in gone.values())
    return Brought(
        source, scope, new, changed, len(same), lost, tuple(refused), known=known_already
    )


def _edited(
    memories: Memories, fresh: Sequence[Piece], known: dict[str, Item], gone: dict[str, Item]
) -> dict[str, Fact]:
    """For each piece the fact whose place it takes: of the same key, or the most alike of those
    that are gone."""
    found: dict[str, Fact] = {}
    left: dict[str, Fact] = {}
    for key, item in gone.items():
        if item.own and (fact := _active(memories, item.fact)) is not None:
            left[key] = fact
    for piece in fresh:
        item_before = known.get(piece.key)
        if item_before is not None:
            fact = _active(memories, item_before.fact) if item_before.own else None
            if fact is not None:
                found[piece.key] = fact
            continue
        alike = [(_alike(fact.text, piece.draft.text), key) for key, fact in left.items()]
        score, key = max(alike, default=(0.0, ""))
        if score >= ALIKE:
            found[piece.key] = left.pop(key)
    return found


def _draft(piece: Piece, before: Fact | None) -> Draft:
    return replace(piece.draft, supersedes=before.id) if before is not None else piece.draft


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _active(memories: Memories, fact: str) -> Fact | None:
    try:
        found = memories.get(fact)
    except UnknownName:
        return None
    return found if found.lifecycle == "active" else None


def _origin(memories: Memories, fact: str) -> str:
    try:
        return memories.get(fact).origin
    except UnknownName:
        return ""


def _kept(origin: str) -> str:
    return Fields().line(origin, PLACE)


def _forget(memories: Memories, fact: str) -> None:
    if _active(memories, fact) is not None:
        memories.forget(fact, "it is gone from where it stood")
