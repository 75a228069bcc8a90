"""Names and texts as terms. What is indexed and what is asked is cut in the same way.

An identifier gives the stems of its words, whether they are joined by humps or by low lines, and
itself as a whole. Every piece is seen as seven fields, since a word in a name says more than the
same word in a comment.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from metamem.core.stems import stem
from metamem.knowledge.pieces import Piece

VERSION = 2  # a change of it makes every index anew
NAME, PLACE, SIGNATURE, CODE, CALLS, STRINGS, PROSE = range(7)
FIELDS = ("name", "place", "signature", "code", "calls", "strings", "prose")
LONGEST = 48  # letters of a term
_HEAD_LINES = 12

_STOP = """a an the this that these those it its i you we they of to in on at by for from with as is are be
    was were and or but if so then than do does did can will would should may which what who how when
    where there here also such"""
STOP = frozenset(_STOP.split())
_RESERVED = """self cls def return if else elif for in while try except finally with as import from class pass
    none true false and or not is raise yield lambda global nonlocal assert break continue async await
    del var let const function new this void int char public private protected static final struct
    impl fn mut pub use func package end then fi do done null undefined typeof string"""
KEYWORDS = frozenset(_RESERVED.split())
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
IDENTIFIER = re.compile(r"[^\W\d]\w*")
TEXT = re.compile(r"\w+")


@lru_cache(maxsize=1 << 16)
def _stemmed(word: str) -> str:
    return stem(word.lower()[:LONGEST])


@lru_cache(maxsize=1 << 17)
def parted(identifier: str) -> tuple[str, ...]:
    """The terms of an identifier: its words' stems and, where it has several, all of it."""
    if not identifier.isascii():
        pieces = identifier.split("_")
    elif identifier.isalpha() and identifier.islower():
        pieces = [identifier]
    else:
        pieces = _WORD.findall(identifier)
    words = [_stemmed(piece) for piece in pieces if piece]
    if len(pieces) == 1:
        return tuple(word for word in words if word)
    found = [word for word in words if len(word) > 1 and word not in STOP]
    return (*found, identifier.replace("_", "").lower()[:LONGEST]) if pieces else ()


def headed(piece: Piece) -> tuple[str, str]:
    """The signature of a function, and the rest. What has none is all rest."""
    if piece.kind not in ("function", "method", "class", "type"):
        return "", piece.text
    lines = piece.text.split("\n", _HEAD_LINES)
    for number, line in enumerate(lines[:_HEAD_LINES], 1):
        if line.rstrip().endswith((":", "{")) or (": " in line and " def " in f" {line}"):
            return "\n".join(lines[:number]), "\n".join(lines[number:])
    return lines[0], "\n".join(lines[1:])


_OUTLINED = 48  # words


@lru_cache(maxsize=1 << 16)
def _spoken(identifier: str) -> tuple[str, ...]:
    """The words of an identifier that tell something, in small letters."""
    if identifier in KEYWORDS:
        return ()
    words = [word.lower() for word in _WORD.findall(identifier)]
    return tuple([word for word in words if len(word) > 2 and word not in STOP])


def outline(piece: Piece, path: str) -> str:
    """What a piece is about, in plain words: its name first, then what stands in it, each word once."""
    stem_of_path = path.rpartition("/")[2].partition(".")[0]
    tokens = IDENTIFIER.findall(f"{piece.name} {piece.within} {stem_of_path} {piece.text}")
    words = dict.fromkeys(chain.from_iterable(map(_spoken, tokens)))
    return " ".join(list(words)[:_OUTLINED])


def plain_words(text: str) -> list[str]:
    """The words of a name or a question as they are spoken, each once."""
    words = (word.lower() for word in _WORD.findall(text))
    return list(dict.fromkeys(word for word in words if len(word) > 1 and word not in STOP))


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: its terms in their order, each once, and the words as they were written."""

    text: str
    terms: tuple[str, ...]
    whole: tuple[str, ...]  # of them, those that are an identifier written out


def question(text: str) -> Question:
    tokens = TEXT.findall(text)
    telling = [token for token in tokens if token.lower() not in STOP] or tokens
    terms = [term for token in telling for term in parted(token)]
    whole = [parted(token)[-1] for token in telling if len(_WORD.findall(token)) > 1]
    return Question(text, tuple(dict.fromkeys(terms)), tuple(dict.fromkeys(whole)))
