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
_ORDER = {"sorted", "sort", "reverse", "reversed", "min", "max", "key", "append", "insert", "pop"}
_BACKWARDS = ("[", ":", ":", "-", "1", "]")
_LEAVING = {"return", "raise", "continue", "break"}
_COPY = {"list", "dict", "set", "tuple", "copy"}
_COMPARE = {"<", "<=", ">", ">="}
_LOGIC = {"==", "!=", "not", "and", "or", "in", "is"}
_MATH = {"+", "-", "*", "/", "//", "%", "**"}
_LARGE = 10  # numbers from which on a factor is taken for a unit
_BRACKETS = {"(", ")", "[", "]", ",", ".", "=", ":"}

KINDS: dict[str, tuple[str, ...]] = {  # kind → words that people use for it
    "boundary": ("boundary", "inclusive", "exclusive", "comparison"),
    "off by one": ("off-by-one", "off by one", "one too", "inclusive", "exclusive"),
    "operator": ("operator", "sign", "plus", "minus", "arithmetic"),
    "condition": ("condition", "negated", "negation", "inverted"),
    "text": ("strip", "lower", "upper", "case", "whitespace", "spaces", "normalise", "normalize"),
    "order": ("sort", "sorted", "reverse", "descending", "ascending", "maximum", "minimum"),
    "copy": ("copy", "alias", "aliasing", "mutable", "mutates"),
    "guard": ("guard", "empty", "special case", "edge case", "missing"),
    "constant": ("default", "constant", "literal"),
    "arguments": ("swap", "swapped", "argument order", "arguments"),
    "missing": ("none", "missing", "null", "optional"),
    "unit": ("unit", "units", "conversion", "factor"),
    "rounding": ("rounding", "rounded", "round", "truncated", "integer division"),
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
    if words & _LEAVING:
        return "missing" if {"if", "is"} <= words else "guard"
    if change.swapped:
        return "arguments"
    if _BACKWARDS in (change.gone, change.come):
        return "order"
    for kind, cues in (("text", _TEXT), ("order", _ORDER), ("copy", _COPY)):
        if words & cues:
            return kind
    if "None" in words:
        return "missing"
    if "round" in words or words == {"/", "//"} or _ceiling(change):
        return "rounding"
    if words & _LOGIC:
        return "condition"
    if words and words <= _COMPARE:
        return "boundary"
    if "1" in words and words <= {"+", "-", "1"}:
        return "off by one"
    if words and words <= _MATH:
        return "operator"
    numbers = sorted(int(word) for word in words if word.isdigit())
    if _is_unit(numbers, words):
        return "unit"
    if words and all(w[0] in "\"'" or w.isdigit() or w in ("True", "False", "None") for w in words):
        return "constant"
    return "other"


def _ceiling(change: Signature) -> bool:
    """Rounded up by way of two minus signs, or no longer."""
    return any(side.count("-") == 2 and "(" in side for side in (change.gone, change.come))


def _is_unit(numbers: list[int], words: set[str]) -> bool:
    """One large number for another, or a large factor that comes or goes."""
    if not numbers or numbers[0] < _LARGE:
        return False
    if len(numbers) == 1:
        return bool(words & {"*", "/", "//"})
    return numbers[-1] - numbers[0] > 1 and words <= {*map(str, numbers), *_MATH}


@dataclass(frozen=True, slots=True)
class Substitution:
    """Tokens that stood for others, none of them a program's own name: it may be made elsewhere."""

    gone: tuple[str, ...]
    come: str  # as it was written


def substitution(old: str, new: str) -> Substitution | None:
    """An edit as a substitution, where it changes one place and both sides hold something."""
    before, after = tokens(old), [*_TOKEN.finditer(new)]
    matcher = difflib.SequenceMatcher(None, before, [m[0] for m in after], autojunk=False)
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    if len(changes) != 1 or changes[0][0] != "replace":
        return None
    _, a, b, c, d = changes[0]
    if "_" in {*map(_plain, before[a:b]), *(_plain(m[0]) for m in after[c:d])}:
        return None
    return Substitution(tuple(before[a:b]), new[after[c].start() : after[d - 1].end()])
