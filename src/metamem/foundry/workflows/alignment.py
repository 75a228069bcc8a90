"""What several values have in common: the frame of a template, with a gap where they differ.

A gap is known by its values, one for each of those that were compared, so two gaps with the same values
are the same. Texts are compared word by word; where they have as many words of the same kinds, place by
place, and else along the longest sequence that all have. The order of the values makes no difference.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metamem.foundry.workflows import shell
from metamem.foundry.workflows.shape import COMMAND_KEYS

# What a value may be is one piece: a version, also after a letter (`v1.2.3`), a line's number before the
# letter of a command (`12i`). The letter of an escape (`\b`, `\n`) is no part of the word after it.
_PIECE = re.compile(
    r"""\s+ | \\[A-Za-z]
    | \d+(?:\.\d+)+(?![^\W_]) | [^\W\d_]+(?=\d+(?:\.\d+)+(?![^\W_])) | \d+(?=[^\W\d_](?!\w))
    | [^\W_]+ | .""",
    re.DOTALL | re.VERBOSE,
)
_QUOTE = re.compile(r"""['"][^\w'"`$\\]*""")
# What the shell leaves as it is between quotes.
_PLAIN = {"'": re.compile(r"[^']*"), '"': re.compile(r"""[^"`$\\!]*""")}
_HELD = 0.6  # of a word with spaces that must be the same for it to hold together
_MOST = 300  # pieces of a text that are compared word by word; more are compared by lines


@dataclass(frozen=True, slots=True)
class Gap:
    """Where values differ, and what stands there in each."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Glue:
    """A text that parts words of a shell: what stands on its two sides is never one value."""

    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """A text with gaps in it."""

    parts: tuple[Any, ...]  # str, Glue and Gap, or what a gap was replaced by


Frame = Any  # a JSON value with Gap and Text at some leaves


def frame(values: Sequence[Any], *, commands: bool = False) -> Frame:
    """What the values have in common."""
    first = values[0]
    if all(_same(first, value) for value in values[1:]):
        return first
    if all(isinstance(v, str) for v in values):
        parts = _shell_parts(values) if commands else _text_parts(values)
        parts = _joined(parts)
        return parts[0] if len(parts) == 1 and isinstance(parts[0], Gap) else Text(tuple(parts))
    if all(isinstance(v, Mapping) for v in values) and len({frozenset(v) for v in values}) == 1:
        return {
            name: frame([v[name] for v in values], commands=commands or name in COMMAND_KEYS)
            for name in first
        }
    if all(_listed(v) for v in values) and len({len(v) for v in values}) == 1:
        rows = zip(*values, strict=True)
        return [frame(list(row), commands=commands) for row in rows]
    return Gap(tuple(values))


def _same(a: Any, b: Any) -> bool:
    """Equal, and of one kind all the way down: 1 is not True, and 1.0 is not 1."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[name], b[name]) for name in a)
    if _listed(a) and _listed(b):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return type(a) is type(b) and bool(a == b)


def _listed(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _shell_parts(texts: Sequence[str]) -> list[str | Glue | Gap]:
    rows = [shell.tokens(text) for text in texts]
    kinds = {tuple(t.text if t.kind == "operator" else t.kind for t in row) for row in rows}
    if len(kinds) > 1:
        return _along([[t.text for t in row] for row in rows])
    parts: list[str | Glue | Gap] = []
    for column in zip(*rows, strict=True):
        if column[0].kind in ("word", "body"):
            parts.extend(_word_parts([t.text for t in column]))
        else:
            # Where spaces differ they are a value as any other: the text must come out as it was.
            spaces = frame([t.text for t in column])
            parts.append(spaces if isinstance(spaces, Gap) else Glue(column[0].text))
    return parts


def _word_parts(texts: Sequence[str]) -> list[str | Glue | Gap]:
    """A word whose parts stand for one another; where some lack what others have, it is one value."""
    parts = _text_parts(texts)
    lacking = any(isinstance(part, Gap) and "" in part.values for part in parts)
    constant = sum(len(part) for part in parts if isinstance(part, str))
    tight = not any(c.isspace() for text in texts for c in text)
    loose = tight or constant < _HELD * max(map(len, texts))
    if (lacking and loose) or (len(parts) == 1 and isinstance(parts[0], Gap)):
        return _quoted(texts)
    return parts


def _quoted(texts: Sequence[str]) -> list[str | Glue | Gap]:
    """A word that is one value. Quotes around it are the shell's and none of it, nor are signs within them
    that are always the same (`'- …'`)."""
    before = _opening(texts)
    after = _opening([text[::-1] for text in texts])[::-1]
    if not before or before[:1] != after[-1:]:
        return [Gap(tuple(texts))]
    inner = [text[len(before) : len(text) - len(after)] for text in texts]
    if not all(_has_word(text) and _PLAIN[before[0]].fullmatch(text) for text in inner):
        return [Gap(tuple(texts))]
    return [before, Gap(tuple(inner)), after]


def _opening(texts: Sequence[str]) -> str:
    """The quote with which all texts begin, with the signs that all have after it; empty without one."""
    found = _QUOTE.match(texts[0])
    signs = found[0] if found else ""
    while not all(text.startswith(signs) for text in texts):
        signs = signs[:-1]
    return signs


def _text_parts(texts: Sequence[str]) -> list[str | Glue | Gap]:
    if len(set(texts)) == 1:
        return [texts[0]]
    rows = [_PIECE.findall(text) for text in texts]
    if max(map(len, rows)) > _MOST:
        return _line_parts(texts)
    if len({tuple(map(_kind, row)) for row in rows}) > 1:
        return _along(rows)
    return [
        column[0] if len(set(column)) == 1 else Gap(tuple(column))
        for column in zip(*rows, strict=True)
    ]


def _line_parts(texts: Sequence[str]) -> list[str | Glue | Gap]:
    rows = [text.splitlines(keepends=True) for text in texts]
    if max(map(len, rows)) > _MOST or min(map(len, rows)) < 2:
        return [Gap(tuple(texts))]
    if len({len(row) for row in rows}) > 1:
        return _along(rows)
    parts: list[str | Glue | Gap] = []
    for column in zip(*rows, strict=True):
        parts.extend(_text_parts(list(column)))
    return parts


def _kind(piece: str) -> str:
    if piece.isspace():
        return " "
    return "w" if _has_word(piece) and not piece.startswith("\\") else piece


def _has_word(text: str) -> bool:
    return any(c.isalnum() for c in text)


def _along(rows: Sequence[Sequence[str]]) -> list[str | Glue | Gap]:
    """Parts along the sequence that all rows have; what stands between is a gap."""
    ordered = sorted({tuple(row) for row in rows})  # so that their order makes no difference
    common: Sequence[str] = ordered[0]
    for row in ordered[1:]:
        common = _longest_common(common, row)
    between, anchors = _between(rows, common)
    # Signs and spaces alone between two gaps hold nothing together.
    while True:
        loose = next(
            (
                at
                for at, anchor in enumerate(anchors)
                if not _has_word(anchor) and any(between[at]) and any(between[at + 1])
            ),
            None,
        )
        if loose is None:
            break
        anchor = anchors.pop(loose)
        right = between.pop(loose + 1)
        between[loose] = [a + anchor + b for a, b in zip(between[loose], right, strict=True)]
    if not any(map(_has_word, anchors)):
        return [Gap(tuple("".join(row) for row in rows))]
    parts: list[str | Glue | Gap] = []
    for at, texts in enumerate(between):
        if any(texts):
            parts.append(texts[0] if len(set(texts)) == 1 else Gap(tuple(texts)))
        parts.extend(anchors[at : at + 1])
    return parts


def _between(
    rows: Sequence[Sequence[str]], common: Sequence[str]
) -> tuple[list[list[str]], list[str]]:
    """For each row what stands before, between and after the common pieces, first places first."""
    columns: list[list[str]] = [[] for _ in range(len(common) + 1)]
    for row in rows:
        at = 0
        for number, piece in enumerate(common):
            place = row.index(piece, at)
            columns[number].append("".join(row[at:place]))
            at = place + 1
        columns[-1].append("".join(row[at:]))
    return columns, list(common)


def _longest_common(a: Sequence[str], b: Sequence[str]) -> list[str]:
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, -1, -1):
        row, below = table[i], table[i + 1]
        for j in range(len(b) - 1, -1, -1):
            row[j] = below[j + 1] + 1 if a[i] == b[j] else max(below[j], row[j + 1])
    found, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            found.append(a[i])
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1
    return found


def _joined(parts: Sequence[str | Glue | Gap]) -> list[str | Glue | Gap]:
    joined: list[str | Glue | Gap] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, str) and isinstance(last, str):
            joined[-1] = last + part
        elif part != "":
            joined.append(part)
    return joined
