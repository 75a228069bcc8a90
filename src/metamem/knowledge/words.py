"""Names and texts as terms. What is indexed and what is asked is cut in the same way.

An identifier gives the stems of its words, whether they are joined by humps or by low lines, and
itself as a whole. Every piece is seen as seven fields, since a word in a name says more than the
same word in a comment.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from metamem.core.stems import stem
from metamem.knowledge.languages import Language
from metamem.knowledge.pieces import Piece

VERSION = 1  # a change of it makes every index anew
NAME, PLACE, SIGNATURE, CODE, CALLS, STRINGS, PROSE = range(7)
FIELDS = ("name", "place", "signature", "code", "calls", "strings", "prose")
LONGEST = 48  # letters of a term
MOST_SAID = 255  # how often a term is counted in a field, at most
_HEAD_LINES = 12

_STOP = """a an the this that these those it its i you we they of to in on at by for from with as is are be
    was were and or but if so then than do does did can will would should may which what who how when
    where there here also such"""
STOP = frozenset(_STOP.split())
_RESERVED = """self cls def return if else elif for in while try except finally with as import from class pass
    none true false and or not is raise yield lambda global nonlocal assert break continue async await
    del var let const function new this void int char public private protected static final struct
    impl fn mut pub use func package end then fi do done null undefined typeof string"""
_KEYWORDS = frozenset(_RESERVED.split())
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_TOKEN = re.compile(r"([^\W\d]\w*)([ \t]*\()?")
_TEXT = re.compile(r"\w+")
_QUOTED = (
    r"'''(?:[^\\]|\\.)*?'''"
    r'|"""(?:[^\\]|\\.)*?"""'
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'(?:[^'\\\n]|\\.)*'"
)
_LITERALS = {
    "hash": re.compile(_QUOTED + r"|\#[^\n]*", re.DOTALL),
    "slash": re.compile(
        r'"(?:[^"\\\n]|\\.)*"' r"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|//[^\n]*|/\*.*?\*/",
        re.DOTALL,
    ),
}


@lru_cache(maxsize=1 << 17)
def parted(identifier: str) -> tuple[str, ...]:
    """The terms of an identifier: its words' stems and, where it has several, all of it."""
    pieces = _WORD.findall(identifier) if identifier.isascii() else identifier.split("_")
    words = [stem(piece.lower()[:LONGEST]) for piece in pieces if piece]
    found = tuple(word for word in words if len(word) > 1 and word not in STOP)
    if len(pieces) > 1:
        return (*found, identifier.replace("_", "").lower()[:LONGEST])
    return found or tuple(word for word in words if word)


Said = dict[tuple[int, str], int]  # a field and a term → how often


def said(piece: Piece, path: str, language: Language) -> Said:
    """The terms of a piece by field."""
    found: Said = {}
    _add(found, NAME, Counter(_TEXT.findall(piece.name)))
    _add(found, PLACE, Counter(_IDENTIFIER.findall(f"{path} {piece.within}")))
    literals = _LITERALS.get(language.comments)
    if literals is None:
        _add(found, PROSE, Counter(_TEXT.findall(piece.text)))
        return found
    head, body = _headed(piece)
    quoted: list[str] = []
    commented: list[str] = []

    def taken(match: re.Match[str]) -> str:
        text = match.group()
        if text[0] in "#/" or text[:3] in ('"""', "'''"):
            commented.append(text)
        else:
            quoted.append(text)
        return " "

    bare = literals.sub(taken, body)
    _add(found, SIGNATURE, _code(literals.sub(taken, head)))
    tokens = Counter(_TOKEN.findall(bare))
    calls: Counter[str] = Counter()
    code: Counter[str] = Counter()
    for (token, called), count in tokens.items():
        if token not in _KEYWORDS:
            (calls if called else code)[token] += count
    _add(found, CODE, code)
    _add(found, CALLS, calls)
    _add(found, STRINGS, Counter(_TEXT.findall(" ".join(quoted))))
    _add(found, PROSE, Counter(_TEXT.findall(" ".join(commented))))
    return found


def _code(text: str) -> Counter[str]:
    found = Counter(_IDENTIFIER.findall(text))
    for word in found.keys() & _KEYWORDS:
        del found[word]
    return found


def _add(found: Said, field: int, counted: Counter[str]) -> None:
    for token, count in counted.items():
        for term in parted(token):
            key = (field, term)
            found[key] = found.get(key, 0) + count


def _headed(piece: Piece) -> tuple[str, str]:
    """The signature of a function, and the rest. What has none is all rest."""
    if piece.kind not in ("function", "method", "class", "type"):
        return "", piece.text
    lines = piece.text.split("\n", _HEAD_LINES)
    for number, line in enumerate(lines[:_HEAD_LINES], 1):
        if line.rstrip().endswith((":", "{")) or (": " in line and " def " in f" {line}"):
            return "\n".join(lines[:number]), "\n".join(lines[number:])
    return lines[0], "\n".join(lines[1:])


_OUTLINED = 48  # words


def outline(piece: Piece, path: str, language: Language) -> str:
    """What a piece is about, in plain words: its name first, then what stands in it, each word once."""
    stem_of_path = path.rpartition("/")[2].partition(".")[0]
    told = f"{piece.name} {piece.within} {stem_of_path}"
    head, body = _headed(piece)
    words: dict[str, None] = {}
    for text in (told, head, body):
        for token in _IDENTIFIER.findall(text):
            if token not in _KEYWORDS:
                for word in _WORD.findall(token):
                    low = word.lower()
                    if len(low) > 2 and low not in STOP:
                        words[low] = None
        if len(words) >= _OUTLINED:
            break
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
    tokens = _TEXT.findall(text)
    telling = [token for token in tokens if token.lower() not in STOP] or tokens
    terms = [term for token in telling for term in parted(token)]
    whole = [parted(token)[-1] for token in telling if len(_WORD.findall(token)) > 1]
    return Question(text, tuple(dict.fromkeys(terms)), tuple(dict.fromkeys(whole)))
