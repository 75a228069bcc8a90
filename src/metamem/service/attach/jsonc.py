"""Changes in somebody's JSON file that leave all else as it stands: comments, order, spaces.

A text is parsed into places, the change is made in the text, and what was put in can be taken out
again. Comments and commas after the last entry are understood where a host allows them.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from metamem.core.errors import DataError

Path = Sequence[str | int]
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n\ufeff]+)|(?P<comment>//[^\n\r]*|/\*.*?\*/)|(?P<string>"(?:[^"\\\x00-\x1f]|\\.)*")
    |(?P<mark>[{}\[\],:])|(?P<word>[-+.\w]+)""",
    re.VERBOSE | re.DOTALL,
)
DEEPEST = 200


@dataclass(slots=True)
class Entry:
    """One entry of an object or a list, and the comma after it, if there is one."""

    start: int
    value: "Node"
    key: str | None = None
    comma: int | None = None


@dataclass(slots=True)
class Node:
    start: int
    end: int
    plain: Any
    entries: list[Entry] = field(default_factory=list)


class Document:
    """A JSON text and its places."""

    def __init__(self, text: str, *, comments: bool = False) -> None:
        self.text = text
        self._comments = comments
        self._ends: list[int] = []  # of all tokens and comments, in order
        self._tokens: list[tuple[str, int, int]] = []
        self._read_tokens()
        self._next = 0
        self.root = self._value(0)
        if self._next != len(self._tokens):
            raise self._wrong(self._tokens[self._next][1])
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._unit = self._indentation()

    # --- reading -----------------------------------------------------------------------------

    def find(self, path: Path) -> Node | None:
        node: Node | None = self.root
        for step in path:
            node = None if node is None else _child(node, step)
        return node

    def get(self, path: Path) -> Any:
        """The value at a place, or None."""
        node = self.find(path)
        return None if node is None else node.plain

    # --- changing ----------------------------------------------------------------------------

    def added(self, path: Path, key: str | None, value: Any) -> str:
        """The text with one more entry at the end of an object, or of a list where key is None."""
        node = self.find(path)
        assert node is not None
        close = node.end - 1
        inline = "\n" not in self.text[node.start : node.end]
        last = node.entries[-1] if node.entries else None
        at = self._before(close)
        if inline and (last is not None or "\n" not in self.text):
            entry, lead = _rendered(key, value, None, "", ""), " " if last else ""
            ending = ""
        else:
            indent = self._line_indent(node.start) + self._unit
            if last is not None and self._begins_line(last.start):
                indent = self._line_indent(last.start)
            entry = _rendered(key, value, self._unit, indent, self._newline)
            lead = self._newline + indent
            has_line = "\n" in self.text[at:close]
            ending = "" if has_line else self._newline + self._line_indent(node.start)
        if last is None:
            return f"{self.text[:at]}{lead}{entry}{ending}{self.text[at:]}"
        if last.comma is not None:
            return f"{self.text[:at]}{lead}{entry},{self.text[at:]}"
        stop = last.value.end
        return f"{self.text[:stop]},{self.text[stop:at]}{lead}{entry}{self.text[at:]}"

    def removed(self, path: Path) -> str:
        """The text without the entry at a place."""
        node = self.find(path[:-1])
        assert node is not None
        number = _place(node, path[-1])
        assert number is not None
        entry = node.entries[number]
        start, text = self._before(entry.start), self.text
        if entry.comma is not None:
            return text[:start] + text[entry.comma + 1 :]
        if number:
            comma = node.entries[number - 1].comma
            assert comma is not None
            return text[:comma] + text[comma + 1 : start] + text[entry.value.end :]
        rest = text[node.start + 1 : start] + text[entry.value.end : node.end - 1]
        return text[: node.start + 1] + (rest if rest.strip() else "") + text[node.end - 1 :]

    # --- how ---------------------------------------------------------------------------------

    def _read_tokens(self) -> None:
        at = 0
        while at < len(self.text):
            found = _TOKEN.match(self.text, at)
            if found is None:
                raise self._wrong(at)
            kind = str(found.lastgroup)
            if kind == "comment" and not self._comments:
                raise self._wrong(at)
            if kind not in ("space", "comment"):
                self._tokens.append((kind, at, found.end()))
            if kind != "space":
                self._ends.append(found.end())
            at = found.end()

    def _value(self, depth: int) -> Node:
        if self._next >= len(self._tokens) or depth > DEEPEST:
            raise self._wrong(len(self.text))
        kind, start, end = self._tokens[self._next]
        mark = self.text[start:end]
        self._next += 1
        if mark == "{":
            return self._entries(start, "}", depth)
        if mark == "[":
            return self._entries(start, "]", depth)
        if kind == "mark":
            raise self._wrong(start)
        try:
            return Node(start, end, json.loads(mark))
        except ValueError:
            raise self._wrong(start) from None

    def _entries(self, start: int, close: str, depth: int) -> Node:
        entries: list[Entry] = []
        while True:
            kind, at, end = self._token()
            if self.text[at:end] == close:
                if entries and entries[-1].comma is not None and not self._comments:
                    raise self._wrong(at)
                plain: Any = [entry.value.plain for entry in entries]
                if close == "}":
                    plain = {entry.key: entry.value.plain for entry in entries}
                return Node(start, end, plain, entries)
            if entries and entries[-1].comma is None:
                raise self._wrong(at)
            key = None
            if close == "}":
                colon = self._token()
                if kind != "string" or self.text[colon[1] : colon[2]] != ":":
                    raise self._wrong(at)
                key = str(json.loads(self.text[at:end]))
            else:
                self._next -= 1
            entry = Entry(at, self._value(depth + 1), key)
            entries.append(entry)
            if self._next < len(self._tokens) and self.text[self._tokens[self._next][1]] == ",":
                entry.comma = self._tokens[self._next][1]
                self._next += 1

    def _token(self) -> tuple[str, int, int]:
        if self._next >= len(self._tokens):
            raise self._wrong(len(self.text))
        self._next += 1
        return self._tokens[self._next - 1]

    def _before(self, at: int) -> int:
        """Where the last token or comment before a place ends."""
        return self._ends[bisect_left(self._ends, at + 1) - 1]

    def _begins_line(self, at: int) -> bool:
        return not self.text[self.text.rfind("\n", 0, at) + 1 : at].strip()

    def _line_indent(self, at: int) -> str:
        line = self.text[self.text.rfind("\n", 0, at) + 1 :]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _indentation(self) -> str:
        for entry in self.root.entries:
            if self._begins_line(entry.start) and (indent := self._line_indent(entry.start)):
                return indent
        return "  "

    def _wrong(self, at: int) -> DataError:
        line = self.text.count("\n", 0, at) + 1
        return DataError(f"it is not JSON as its program reads it (line {line})")


def _child(node: Node, step: str | int) -> Node | None:
    number = _place(node, step)
    return None if number is None else node.entries[number].value


def _place(node: Node, step: str | int) -> int | None:
    if isinstance(step, int):
        return step if isinstance(node.plain, list) and step < len(node.entries) else None
    if not isinstance(node.plain, dict):
        return None
    found = [n for n, entry in enumerate(node.entries) if entry.key == step]
    return found[-1] if found else None  # as parsers take it: the last one counts


def _rendered(key: str | None, value: Any, unit: str | None, indent: str, newline: str) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=unit)
    text = text.replace("\n", newline + indent) if unit is not None else text
    return text if key is None else f"{json.dumps(key, ensure_ascii=False)}: {text}"
