"""Exports of other memories: mem0's JSON, and the JSON lines of MCP's reference memory server."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metamem.core.errors import DataError
from metamem.core.ids import content_id
from metamem.service.importing.items import Piece
from metamem.service.importing.lines import whole
from metamem.service.importing.transcript import mapping, moment, string
from metamem.service.words import Draft

MOST = 200_000_000  # bytes of a file


def mem0(path: Path) -> list[Piece]:
    """What mem0 exports: a list of memories, or an object that holds one."""
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
    pieces = []
    for entry in map(mapping, read):
        text = next((t for n in ("memory", "text", "data") if (t := string(entry.get(n)))), "")
        if not text:
            continue
        one = string(entry.get("id")) or content_id("mem0", text)
        draft = Draft(
            text,
            "observation",
            "agent",  # a model made it of what somebody said
            origin=f"mem0:{one}",
            author=string(entry.get("user_id")) or string(entry.get("agent_id")),
            said_at=moment(entry.get("updated_at")) or moment(entry.get("created_at")),
        )
        pieces.append(Piece(one, draft))
    return pieces


def mcp_memory(path: Path) -> list[Piece]:
    """What the reference server keeps: entities with observations, and relations between them."""
    file, pieces, known = whole(path), dict[str, Piece](), 0
    for record in file.records():
        kind = record.get("type")
        if kind == "entity" and (name := string(record.get("name"))):
            known += 1
            observations = record.get("observations")
            for told in observations if isinstance(observations, list) else []:
                if text := string(told).strip():
                    words = text if name.lower() in text.lower() else f"{name}: {text}"
                    _add(pieces, words, (name,))
        elif kind == "relation":
            known += 1
            parts = [string(record.get(one)) for one in ("from", "relationType", "to")]
            if all(parts):
                _add(pieces, " ".join(parts).replace("_", " "), (parts[0], parts[2]))
    if not known:
        raise DataError(
            f"{path} holds no entities and no relations", hint="memory.json of the server"
        )
    return list(pieces.values())


def _add(pieces: dict[str, Piece], text: str, entities: tuple[str, ...]) -> None:
    key = content_id("mcp-memory", text)
    draft = Draft(text, "observation", "agent", origin="mcp-memory", entities=entities)
    pieces.setdefault(key, Piece(key, draft))
