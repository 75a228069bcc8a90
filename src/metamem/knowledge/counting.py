"""How often each term stands in each field of a file's pieces.

This runs for all that is indexed, so that little here goes from token to token: texts are parted by
tables and `split`, what a token means is looked up, and numpy counts the numbers that come of it for a
whole file. What the tokens of a process mean is kept from file to file.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from metamem.knowledge.languages import Language
from metamem.knowledge.pieces import Piece
from metamem.knowledge.words import FIELDS, IDENTIFIER, KEYWORDS, TEXT, headed, parted

MOST_SAID = 255  # how often a term is counted in a field, at most
_MOST_KEPT = 1 << 18  # tokens whose meaning a process keeps
_END = "\0"  # behind the tokens of a field, as if it were a token
_MOST_SPACES = 8  # before a bracket, for a call to be found by the quick way
_QUOTED = (
    r"'''(?:[^\\]|\\.)*?'''"
    r'|"""(?:[^\\]|\\.)*?"""'
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'(?:[^'\\\n]|\\.)*'"
)
_LITERALS = {
    "hash": re.compile(rf"({_QUOTED}|\#[^\n]*)", re.DOTALL),
    "slash": re.compile(
        r'("(?:[^"\\\n]|\\.)*"' r"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|//[^\n]*|/\*.*?\*/)",
        re.DOTALL,
    ),
}
_TOKEN = re.compile(r"([^\W\d]\w*)([ \t]*\()?")
_NO_NAMES = KEYWORDS | {f"{word}(" for word in KEYWORDS} | {"("}
_SIGNS = [byte if chr(byte).isalnum() or byte == ord("_") else ord(" ") for byte in range(128)]
_WORDS = bytes(_SIGNS + [ord(" ")] * 128)  # for each byte of ASCII itself, or a space
_WORDS_OR_CALLS = _WORDS[: ord("(")] + b"(" + _WORDS[ord("(") + 1 :]


@dataclass(frozen=True, slots=True)
class Counted:
    """A row for every term in a field of a piece: number in `vocabulary` * 8 + field, piece, times."""

    vocabulary: list[str]
    terms: NDArray[np.uint32]
    places: NDArray[np.uint32]
    times: NDArray[np.uint8]


def counted(pieces: Sequence[Piece], path: str, language: Language) -> Counted:
    """Count the terms of a file; its vocabulary is in the order in which they come."""
    if len(_known()) > _MOST_KEPT:
        _known.cache_clear()
    known = _known()
    tokens: list[str] = []
    around: dict[str, list[str]] = {}  # what a piece stands in → tokens of its place
    for piece in pieces:
        place = around.get(piece.within)
        if place is None:
            place = around[piece.within] = IDENTIFIER.findall(f"{path} {piece.within}")
        for field in (TEXT.findall(piece.name), place, *_fields(piece, language)):
            tokens += field
            tokens.append(_END)
    numbers = np.fromiter(chain.from_iterable(map(known.__getitem__, tokens)), np.int64)
    said = numbers >= 0
    fields = np.cumsum(~said)[said]  # of all pieces, one after the other
    vocabulary, terms = known.numbered(numbers[said])
    keys, firsts, times = np.unique(
        fields * len(vocabulary) + terms, return_index=True, return_counts=True
    )
    order = np.argsort(firsts)
    fields, terms = np.divmod(keys[order], max(len(vocabulary), 1))
    places, fields = np.divmod(fields, len(FIELDS))
    return Counted(
        vocabulary,
        (terms * 8 + fields).astype(np.uint32),
        places.astype(np.uint32),
        np.minimum(times[order], MOST_SAID).astype(np.uint8),
    )


def _fields(piece: Piece, language: Language) -> tuple[list[str], ...]:
    """The tokens of a piece's text: signature, code, calls, strings, and prose."""
    literals = _LITERALS.get(language.comments)
    if literals is None:
        return [], [], [], [], _texts(piece.text)
    head, body = headed(piece)
    parts = literals.split(body)  # what is code, and between each two a literal
    head_parts = literals.split(head)
    quoted: list[str] = []
    commented: list[str] = []
    for each in chain(parts[1::2], head_parts[1::2]):
        prose = each[0] in "#/" or each[:3] in ('"""', "'''")
        (commented if prose else quoted).append(each)
    tokens = [token for token in _tokens(" ".join(parts[::2])) if token not in _NO_NAMES]
    return (
        [t for t in IDENTIFIER.findall(" ".join(head_parts[::2])) if t not in KEYWORDS],
        [t if t[0] > "9" else _name(t) for t in tokens if t[-1] != "("],
        [t[:-1] if t[0] > "9" else _name(t[:-1]) for t in tokens if t[-1] == "("],
        _texts(" ".join(quoted)),
        _texts(" ".join(commented)),
    )


def _texts(text: str) -> list[str]:
    """Runs of letters, digits and low lines."""
    if not text.isascii():
        return TEXT.findall(text)
    return text.encode().translate(_WORDS).decode().split()


def _tokens(code: str) -> list[str]:
    """Identifiers, with a bracket behind those that are called. There may be digits before them, and
    numbers and brackets between them."""
    if code.isascii():
        plain = code.encode()
        for _ in range(_MOST_SPACES):
            if b" (" not in plain and b"\t(" not in plain:
                return plain.translate(_WORDS_OR_CALLS).replace(b"(", b"( ").decode().split()
            plain = plain.replace(b" (", b"(").replace(b"\t(", b"(")
    return [name + called[-1:] for name, called in _TOKEN.findall(code)]


def _name(token: str) -> str:
    """An identifier that follows digits, as in 0xff or 1if; empty where there is none."""
    name = token.lstrip("0123456789")
    return "" if name in KEYWORDS else name


class _Known(dict[str, tuple[int, ...]]):
    """The terms of a process, numbered as they come, and which of them each token means."""

    def __init__(self) -> None:
        self[_END], self[""] = (-1,), ()
        self._numbers: dict[str, int] = {}
        self._terms: list[str] = []  # by their numbers
        self._firsts = np.zeros(0, np.int64)  # room to work in

    def __missing__(self, token: str) -> tuple[int, ...]:
        numbers, terms = self._numbers, parted(token)
        for term in terms:
            if term not in numbers:
                numbers[term] = len(numbers)
                self._terms.append(term)
        found = self[token] = tuple([numbers[term] for term in terms])
        return found

    def numbered(self, numbers: NDArray[np.int64]) -> tuple[list[str], NDArray[np.int64]]:
        """The vocabulary of a file in the order of its terms, and these by their places in it."""
        if len(self._firsts) < len(self._terms):
            self._firsts = np.zeros(2 * len(self._terms), np.int64)
        rows = np.arange(len(numbers))
        self._firsts[numbers[::-1]] = rows[::-1]  # of those for one term, the last one stays
        firsts = self._firsts[numbers]
        fresh = firsts == rows
        places = (np.cumsum(fresh) - 1)[firsts]
        return [self._terms[number] for number in numbers[fresh].tolist()], places


@cache
def _known() -> _Known:
    return _Known()
