"""Advice as a repairer reads it: earlier edits and how they went, kinds of repair, names.

An edit is a JSON object with `find` and `replace` (or `old` and `new`), wherever it stands in the
text; or a line that begins with - followed by one that begins with +; or the words "In PATH, line
N, change", the old lines, "into", the new lines. No other form is privileged.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from metamem.agents.repair_change import (
    KINDS,
    Signature,
    Substitution,
    signature,
    substitution,
)

_WORD = re.compile(r"[\w/]+\.py|[A-Za-z_]\w*")
_PATH = re.compile(r"([\w./-]+\.py)\W*$")
_TAKEN_BACK = re.compile(r"\bundo\b|\bundone\b", re.IGNORECASE)
_WENT_WELL = re.compile(r"\bsubmit|exit code 0|\ball tests pass", re.IGNORECASE)
_DIFF = re.compile(r"^-(?!-)(.*)\n\+(?!\+)(.*)$", re.MULTILINE)
_SPOKEN = re.compile(
    r"^In (\S+\.py), line (\d+), change\n(.*?)\n?into\n(.*?)(?=\n*^In \S+\.py, line|\n\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
_LONE = 0.35  # trust in an edit of a transcript that does not say how it went


@dataclass(frozen=True, slots=True)
class Edit:
    path: str
    old: str
    new: str
    trust: float
    line: int = 0  # where it was made, if the advice says so


@dataclass(slots=True)
class ReadAdvice:
    edits: list[Edit] = field(default_factory=list)
    kinds: dict[str, float] = field(default_factory=dict)
    signatures: dict[Signature, float] = field(default_factory=dict)
    substitutions: list[Substitution] = field(default_factory=list)
    names: frozenset[str] = frozenset()  # words and paths of advice that shows no edit


def read_advice(text: str) -> ReadAdvice:
    text = _unescaped(text)
    edits = list(_edits(text))
    result = ReadAdvice(edits)
    for edit in edits:
        change = signature(edit.old, edit.new)
        _add(result.signatures, change, edit.trust)
        _add(result.kinds, change.kind, edit.trust)
        found = substitution(edit.old, edit.new)
        if found is not None and edit.trust == 1.0 and found not in result.substitutions:
            result.substitutions.append(found)
    if not edits:
        lowered = text.lower()
        result.names = frozenset(_WORD.findall(text))
        for kind, cues in KINDS.items():
            if any(re.search(rf"\b{re.escape(cue)}\b", lowered) for cue in cues):
                _add(result.kinds, kind, 1.0)
    return result


def _add(table: dict[Any, float], key: Any, weight: float) -> None:
    table[key] = table.get(key, 0.0) + weight


def _unescaped(text: str) -> str:
    """The strings of JSON advice as lines; any other text as it is."""
    try:
        return "\n".join(_strings(json.loads(text)))
    except (ValueError, RecursionError):
        return text


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if _edit_of(value):
            yield json.dumps(value)
            return
        for key, inner in value.items():
            yield str(key)
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
    else:
        yield str(value)


def _edit_of(value: Any) -> tuple[str, str] | None:
    if isinstance(value, dict):
        for old, new in (("find", "replace"), ("old", "new")):
            if isinstance(value.get(old), str) and isinstance(value.get(new), str):
                return value[old], value[new]
    return None


def _edits(text: str) -> Iterator[Edit]:
    found: list[tuple[int, int, str, str, str, int]] = []
    decoder = json.JSONDecoder()
    place = text.find("{")
    while place >= 0:
        end = place + 1
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            value = None
        if pair := _edit_of(value):
            before = _PATH.search(text[max(0, place - 200) : place])
            path = str(value.get("path") or (before[1] if before else ""))
            found.append((place, end, path, *pair, 0))
        place = text.find("{", end)
    for diff in _DIFF.finditer(text):
        found.append((diff.start(), diff.end(), "", diff[1].strip(), diff[2].strip(), 0))
    for said in _SPOKEN.finditer(text):
        found.append((said.start(), said.end(), said[1], said[3], said[4], int(said[2])))
    found.sort()
    told = bool(_TAKEN_BACK.search(text) or _WENT_WELL.search(text))
    for i, (_, end, path, old, new, line) in enumerate(found):
        until = found[i + 1][0] if i + 1 < len(found) else len(text)
        after = text[end:until]
        if _TAKEN_BACK.search(after):
            continue
        good = not told or bool(_WENT_WELL.search(after))
        yield Edit(path, old, new, 1.0 if good else _LONE, line)
