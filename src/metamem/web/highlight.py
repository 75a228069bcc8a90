"""Light colours for Python, and for diffs. Everything that comes out is escaped."""

import builtins
import difflib
import io
import keyword
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup, escape

_KINDS = {
    tokenize.STRING: "string",
    tokenize.COMMENT: "comment",
    tokenize.NUMBER: "number",
}
_BUILTINS = frozenset(dir(builtins))


def highlight(source: str) -> list[Markup]:
    """The lines of a source, each well-formed by itself; plain where it is not Python."""
    try:
        spans = list(_spans(source))
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError):
        spans = []
    lines = source.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    marked: list[list[tuple[int, int, str]]] = [[] for _ in lines]
    for row, start, end, kind in spans:
        if row < len(marked):
            marked[row].append((start, end, kind))
    return [_line(text, parts) for text, parts in zip(lines, marked, strict=True)]


def _line(text: str, parts: list[tuple[int, int, str]]) -> Markup:
    done, at = Markup(), 0
    for start, end, kind in parts:
        done += escape(text[at:start])
        done += Markup('<span class="t-{}">{}</span>').format(kind, text[start:end])
        at = end
    return done + escape(text[at:])


def _spans(source: str) -> Iterator[tuple[int, int, int, str]]:
    """Row, start, end and kind of what is coloured; a token of several lines comes in pieces."""
    for token in tokenize.generate_tokens(io.StringIO(source, newline="\n").readline):
        kind = _kind(token)
        if kind is None:
            continue
        (row, start), (last, end) = token.start, token.end
        for number, line in enumerate(token.string.split("\n"), row):
            left = start if number == row else 0
            right = end if number == last else left + len(line)
            if right > left:
                yield number - 1, left, right, kind


def _kind(token: tokenize.TokenInfo) -> str | None:
    if token.type == tokenize.NAME:
        if keyword.iskeyword(token.string):
            return "keyword"
        return "builtin" if token.string in _BUILTINS else None
    return _KINDS.get(token.type)


@dataclass(frozen=True, slots=True)
class DiffLine:
    kind: str  # added | removed | same | place
    text: str


def diff(old: str, new: str) -> list[DiffLine]:
    """A unified diff without its header."""
    kinds = {"+": "added", "-": "removed", " ": "same", "@": "place"}
    lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), n=3, lineterm=""))
    return [DiffLine(kinds.get(line[:1], "same"), line) for line in lines[2:]]
