"""Exports of other memories: mem0's JSON, and the JSON lines of MCP's reference memory server."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from metamem.core.errors import DataError
from metamem.core.ids import content_id
from metamem.service.importing.items import Piece
from metamem.service.importing.lines import whole
from metamem.service.importing.transcript import id_of, mapping, moment, string
from metamem.service.words import Draft
from metamem.service.writing.fields import identifier

MOST = 200_000_000  # bytes of a file


@dataclass(frozen=True, slots=True)
class Export:
    """What was read of an export."""

    pieces: tuple[Piece, ...]
    damaged: int = 0  # lines or entries that could not be read
    whose: Mapping[str, str] = field(default_factory=dict)  # the user of each piece, by its key

    @property
    def users(self) -> Mapping[str, int]:
        """How many pieces each user has; those of nobody stand under no name."""
        return Counter(self.whose.values())

    def of(self, user: str) -> list[Piece]:
        return [piece for piece in self.pieces if self.whose.get(piece.key) == user]


def mem0(path: Path) -> Export:
    """What mem0 exports: a list of memories, or an object that holds one. Where they are of several users,
    each says whose it is."""
    try:
        if path.stat().st_size > MOST:
            raise DataError(f"{path} has more than {MOST} bytes")
        read: Any = json.loads(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise DataError(f"{path} is no JSON document") from None
    if isinstance(read, Mapping):
        read = next((read[name] for name in ("results", "memories", "data") if name in read), None)
    if not isinstance(read, list):
        raise DataError(f"{path} is no export of mem0", hint="a list, or one under `results`")
    entries = []
    for entry in map(mapping, read):
        text = next((t for n in ("memory", "text", "data") if (t := string(entry.get(n)))), "")
        if text:
            user = string(entry.get("user_id")) or string(entry.get("agent_id"))
            entries.append((entry, text, user))
    several = len({user for _, _, user in entries}) > 1
    pieces, whose = dict[str, Piece](), dict[str, str]()
    for entry, text, user in entries:
        named = user if several else ""
        words = f"{named}: {text}" if named and not _names(text, named) else text
        key = id_of(entry.get("id")) or content_id("mem0", words)
        if whose.get(key, user) != user:
            key = identifier(f"{key} of {user}")  # ids that are one user's own
        draft = Draft(
            words,
            "observation",
            "agent",  # a model made it of what somebody said
            origin=f"mem0:{key}",
            author=user,
            said_at=moment(entry.get("updated_at")) or moment(entry.get("created_at")),
            entities=(named,) if named else (),
        )
        pieces[key], whose[key] = Piece(key, draft), user
    return Export(tuple(pieces.values()), len(read) - len(entries), whose)


def _names(text: str, user: str) -> bool:
    """Whether a text says itself whose it is."""
    return re.search(rf"(?<!\w){re.escape(user)}(?!\w)", text, re.IGNORECASE) is not None


def mcp_memory(path: Path) -> Export:
    """What the reference server keeps: entities with observations, and relations between them."""
    file, pieces, known, odd = whole(path), dict[str, Piece](), 0, 0
    for record in file.records():
        kind, name = record.get("type"), string(record.get("name"))
        parts = [string(record.get(one)) for one in ("from", "relationType", "to")]
        if kind == "entity" and name:
            known += 1
            observations = record.get("observations")
            for told in observations if isinstance(observations, list) else []:
                if text := string(told).strip():
                    words = text if name.lower() in text.lower() else f"{name}: {text}"
                    _add(pieces, words, (name,))
                else:
                    odd += 1
        elif kind == "relation" and all(parts):
            known += 1
            _add(pieces, " ".join(parts).replace("_", " "), (parts[0], parts[2]))
        else:
            odd += 1
    if not known:
        raise DataError(
            f"{path} holds no entities and no relations", hint="memory.json of the server"
        )
    return Export(tuple(pieces.values()), file.damaged + odd)


def _add(pieces: dict[str, Piece], text: str, entities: tuple[str, ...]) -> None:
    key = content_id("mcp-memory", text)
    draft = Draft(text, "observation", "agent", origin="mcp-memory", entities=entities)
    pieces.setdefault(key, Piece(key, draft))
