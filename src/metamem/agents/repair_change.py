"""What a change of code is about: the tokens that go and come, and the kind of repair they make."""

import builtins
import difflib
import keyword
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|\w+|//|<=|>=|==|!=|\*\*|->|[^\s\w]")
_KNOWN = {*keyword.kwlist, *dir(builtins), *dir(str), *dir(list), *dir(dict), "reverse", "key"}
_TEXT = {"strip", "lstrip", "rstrip", "lower", "upper", "casefold", "capitalize", "title"}
_ORDER = {"sorted", "sort", "reverse", "reversed", "min", "max", "key"}
_COPY = {"list", "dict", "set", "tuple", "copy"}
_COMPARE = {"<", "<=", ">", ">="}
_LOGIC = {"==", "!=", "not", "and", "or", "in", "is"}
_MATH = {"+", "-", "*", "/", "//", "%", "**"}
_BRACKETS = {"(", ")", "[", "]", ",", ".", "=", ":"}

KINDS: dict[str, tuple[str, ...]] = {  # kind → words that people use for it
    "boundary": ("boundary", "inclusive", "exclusive", "comparison"),
    "off by one": ("off-by-one", "off by one", "one too", "inclusive", "exclusive"),
    "operator": ("operator", "sign", "plus", "minus", "arithmetic"),
    "condition": ("condition", "negated", "negation", "inverted"),
    "text": ("strip", "lower", "upper", "case", "whitespace", "spaces", "normalise", "normalize"),
    "order": ("sort", "sorted", "reverse", "descending", "ascending", "maximum", "minimum"),
    "copy": ("copy", "alias", "aliasing", "mutable", "mutates"),
    "guard": ("guard", "empty", "special case", "edge case", "missing check"),
    "constant": ("default", "constant", "literal"),
    "arguments": ("swap", "swapped", "argument order", "arguments"),
}


@dataclass(frozen=True, slots=True)
class Signature:
    """What goes and what comes, names of the program's own left out."""

    gone: tuple[str, ...]
    come: tuple[str, ...]
    swapped: bool = False  # the same tokens in another order

    @property
    def kind(self) -> str:
        return _kind(self)


def tokens(code: str) -> list[str]:
    return _TOKEN.findall(code)


@lru_cache(maxsize=4096)
def signature(old: str, new: str) -> Signature:
    before, after = tokens(old), tokens(new)
    gone: list[str] = []
    come: list[str] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            gone += before[a:b]
            come += after[c:d]
    swapped = Counter(before) == Counter(after)
    return Signature(tuple(map(_plain, gone)), tuple(map(_plain, come)), swapped)


def _plain(token: str) -> str:
    own = token.isidentifier() and token not in _KNOWN
    return "_" if own else token


def _kind(change: Signature) -> str:
    words = {*change.gone, *change.come} - _BRACKETS - {"_"}
    if {"if", "return"} <= words or {"if", "raise"} <= words or {"if", "continue"} <= words:
        return "guard"
    if change.swapped:
        return "arguments"
    for kind, cues in (("text", _TEXT), ("order", _ORDER), ("copy", _COPY)):
        if words & cues:
            return kind
    if words & _LOGIC:
        return "condition"
    if words and words <= _COMPARE:
        return "boundary"
    if "1" in words and words <= {"+", "-", "1"}:
        return "off by one"
    if words and words <= _MATH:
        return "operator"
    if words and all(w[0] in "\"'" or w.isdigit() or w in ("True", "False", "None") for w in words):
        return "constant"
    return "other"
