"""Shell texts taken apart without losing a character: words with their quotes, operators, here-documents.

It is no shell: nothing is expanded. What cannot be parsed (a quote that never ends) is a word of its own.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["space", "word", "operator", "body"]
_LONGEST = 20_000  # a longer text is one word: nobody types it
_TOKEN = re.compile(
    r"""(?P<space>(?:[ \t\r]|\\\n)+)
    |(?P<operator>&&|\|\||;;|\|&|&>{1,2}|\d*(?:<<<|<<-?|>>|[<>])(?:&(?:\d+|-))?|[;|&()\n])
    |(?P<word>(?:'[^']*'|"(?:\\.|[^"\\])*"|`[^`]*`
        |\$\((?:[^()'"]|'[^']*'|"(?:\\.|[^"\\])*"|\([^()]*\))*\)
        |\[secret:\ [a-z ]+\]|\\.|[^\s;|&()<>'"`\\])+)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(r"""'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)""", re.DOTALL)
_ENDS = frozenset({"&&", "||", ";", ";;", "|", "|&", "&", "(", ")", "\n"})


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """One program with its words, what led to it, and where its output goes."""

    words: tuple[str, ...]
    joined: str = ""  # the operator before it
    redirects: tuple[tuple[str, str], ...] = ()


def tokens(text: str) -> list[Token]:
    """The text in pieces; together they are the text."""
    if len(text) > _LONGEST:
        return [Token("word", text)]
    return list(_scanned(text))


def unquoted(word: str) -> str:
    """A word as the program gets it, but for what the shell would expand."""
    return _QUOTED.sub(lambda m: next(g for g in m.groups() if g is not None), word)


def commands(text: str) -> list[Command]:
    """The programs of pipelines and chains, in their order."""
    found: list[Command] = []
    words: list[str] = []
    redirects: list[tuple[str, str]] = []
    joined, pending = "", ""
    for token in [*tokens(text), Token("operator", ";")]:
        if token.kind == "word" and pending:
            redirects.append((pending, unquoted(token.text)))
            pending = ""
        elif token.kind == "word":
            words.append(unquoted(token.text))
        elif token.kind == "operator" and token.text in _ENDS:
            if words or redirects:
                found.append(Command(tuple(words), joined, tuple(redirects)))
                words, redirects, joined = [], [], token.text
        elif token.kind == "operator":
            if "&" in token.text[1:]:
                redirects.append((token.text, ""))
            else:
                pending = token.text
    return found


def _scanned(text: str) -> Iterator[Token]:
    at, awaited = 0, False
    ends: list[str] = []  # of here-documents that begin after this line
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None  # the last branch takes anything
        at = match.end()
        kind, piece = match.lastgroup, match.group()
        if kind == "space":
            yield Token("space", piece)
        elif kind == "operator":
            yield Token("operator", piece)
            awaited = piece.endswith(("<<", "<<-"))
            if piece == "\n" and ends:
                stop = _end_of_body(text, at, ends)
                yield from [Token("body", text[at:stop])] if stop > at else []
                at, ends = stop, []
        else:
            yield Token("word", piece)
            if awaited:
                ends.append(unquoted(piece))
                awaited = False


def _end_of_body(text: str, at: int, ends: list[str]) -> int:
    for end in ends:
        match = re.compile(rf"^[ \t]*{re.escape(end)}[ \t]*$", re.MULTILINE).search(text, at)
        if match is None:
            return len(text)
        at = match.end()
    return at
