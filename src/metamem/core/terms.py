"""Texts as terms of the lexical index. Questions and facts are cut in the same way.

Words are folded to lower case without accents and cut to stems; words that tell nothing are left
out, unless a text has no others. Chinese, Japanese and Korean, which write no spaces, are cut into
pairs of characters.
"""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from metamem.core.stems import stem
from metamem.core.stopwords import STOP

VERSION = 3  # a change of it makes the index anew
_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_PIECE = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:['’][^\W_{_CJK}]+)*", re.UNICODE)
_PAIRED = re.compile(f"[{_CJK}]")
_PLAIN = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")
_LONGEST = 64  # of a term, in characters: longer ones are keys and hashes, and their start will do


def words(text: str) -> list[str]:
    """The words of a text in their order, in lower case, without accents; pairs for CJK."""
    if text.isascii():  # nearly all texts are, and they are cut several times as quickly
        pieces: list[str] = _PLAIN.findall(text.lower())
        if "'" not in text and len(max(pieces, key=len, default="")) <= _LONGEST:
            return pieces
        return [word for piece in pieces for word in _parted(piece[:_LONGEST])]
    found: list[str] = []
    for piece in _PIECE.findall(_folded(text)):
        if _PAIRED.match(piece):
            found.extend(piece[i : i + 2] for i in range(max(1, len(piece) - 1)))
        else:
            found.extend(_parted(piece.lower()[:_LONGEST]))
    return found


def is_paired(word: str) -> bool:
    """Whether a word is a pair of characters, out of a text that is written without spaces."""
    return _PAIRED.match(word) is not None


def _parted(piece: str) -> tuple[str, ...]:
    """The words of a piece that may have apostrophes."""
    if "'" not in piece and "’" not in piece:
        return (piece,)
    head, *tail = re.split("['’]", piece)
    if head in ("won", "can", "don") and tail == ["t"]:
        return ("not",)
    if tail == ["t"] and head.endswith("n"):
        return head[:-1], "not"
    if head:
        return (head if len(head) > 1 or not tail else head + "".join(tail),)
    return ()


def terms(text: str) -> Counter[str]:
    """How often each term occurs in a text."""
    found = Counter[str]()
    dict.update(found, _counted(text))  # as they stand: Counter's own way counts them once more
    return found


@lru_cache(maxsize=1024)  # a text that is written is looked at by one part after the other
def _counted(text: str) -> tuple[tuple[str, int], ...]:
    found = words(text)
    telling = [word for word in found if word not in STOP]
    return tuple(Counter(stem(word) for word in telling or found).items())


def _folded(text: str) -> str:
    """Without accents and width variants. Korean syllables stay whole."""
    apart = unicodedata.normalize("NFKD", text)
    bare = "".join(c for c in apart if not unicodedata.combining(c) or "\u3099" <= c <= "\u309a")
    return unicodedata.normalize("NFKC", bare)
