"""Whether two calls of a tool that is no shell were meant to do the same, by their arguments.

What identifies a target (ids, names, paths, addresses) must be the same, be put right, or be what the error
speaks of. Texts and contents are compared by their words: of a short one every word must still be there or be
put right. Settings and single values may change. Something of its own must have stayed: that two calls are about
the same repository or channel says nothing.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any, Literal

from metamem.core.ids import canonical_json
from metamem.foundry.failures.stages import several

NEAR = 0.8  # of a target that was put right
NEAR_WORD = 0.7  # of a word in a text
SHORT = 12  # words up to which a text is short
CHANGED = 0.15  # of the words of a longer one that may be others
ADDED = 2  # words that may come to a short text
_WORDS_COMPARED = 2000

TARGET = re.compile(
    r"(?:^|_)(?:path|file|filename|url|uri|id|ids|name|repo|owner|project|table|key|number|branch|ref|target|host"
    r"|channel|bucket|database|resource|user|email)$",
    re.IGNORECASE,
)
# They hold many things: two calls for one of them need not be about the same.
_HOLDERS = re.compile(
    r"(?:^|_)(?:repo|repository|owner|project|organi[sz]ation|org|team|workspace|host|channel|bucket|database|db|branch"
    r"|region|account|tenant|namespace|server|base)(?:_(?:id|name|key))?$",
    re.IGNORECASE,
)
# They say what is wanted, be it in one word.
_SAYING = re.compile(
    r"(?:^|_)(?:title|summary|subject|element|selector|query|sql|statement|text|body|message|prompt|expression|code|command"
    r"|task|description|pattern|old_string|new_string|old_str|new_str)$",
    re.IGNORECASE,
)
_DEEDS = re.compile(r"(?:^|_)(?:method|verb|action|operation|op)$", re.IGNORECASE)
_CONTENTS = re.compile(r"(?:^|_)(?:content|contents|file_text|data)$", re.IGNORECASE)
_SETTINGS = re.compile(
    r"header|option|setting|config|flag|param|meta|format|mode|timeout|limit|encoding",
    re.IGNORECASE,
)
_SHAPED = re.compile(  # like a path, an address or an id
    r"(?:https?://|~?/|\.{1,2}/|[A-Za-z]:\\)\S+|[A-Za-z]{1,10}[-_]?\d[\w-]*|[0-9a-fA-F-]{16,}"
)
_LOOKING = re.compile(
    r"^(?:\w+__)*(?:get|list|read|search|find|view|show|fetch|look|grep|glob|ls)", re.IGNORECASE
)
_TOO_LONG = re.compile(r"too[ _](?:long|large|big|many)|exceed|maximum|\blimit", re.IGNORECASE)
_COMMON = several(  # names that files of many folders have
    "index readme __init__ main mod package makefile dockerfile config settings setup lib utils test"
)
_ADDRESS = re.compile(r"\w+://([^/?#]*)")
_LETTERS = re.compile(r"[a-z]{4,}")
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_TEXT = re.compile(r"\w+|\*")

Found = Literal["same", "right", "named", "changed", "other"]  # "right": put right


class Arguments:
    """What a failed call was given, to hold later ones against."""

    def __init__(self, tool: str, given: Mapping[str, Any], error: str) -> None:
        self._given = given
        self._looks = _LOOKING.match(tool) is not None
        self._said = error
        self._error = set(_LETTERS.findall(error.lower()))
        self._spoken = {word.lower() for word in _TEXT.findall(error)}

    def mean_same(self, now: Mapping[str, Any]) -> bool:
        """Whether a call of the same tool with these is meant to do the same."""
        given = self._given
        if _only_leaves_out(given, now):
            return False
        found = {name: self._compared(name, now) for name in given if name in now}
        if "other" in found.values():
            return False
        if all(each == "same" for each in found.values()):  # but for what was added or left away
            return (
                any(self._counts(name) or is_target(name, given[name]) for name in found)
                or not given
            )
        return any(
            each == "right" or (each == "same" and self._counts(name))
            for name, each in found.items()
        )

    def _compared(self, name: str, now: Mapping[str, Any]) -> Found:
        before, after = self._given[name], now[name]
        if _json(before) == _json(after):
            return "same"
        if is_target(name, before):
            if put_right(before, after):
                return "right"
            return "named" if not self._looks and self._is_named(name, before) else "other"
        if _DEEDS.search(name):
            return "named" if self._is_named(name, before) else "other"
        if _SETTINGS.search(name):
            return "changed"
        if isinstance(before, list | dict):
            if self._same_leaves(before, after):
                return "right"
            return "named" if self._is_named(name, "") else "other"
        if not isinstance(before, str) or not isinstance(after, str):
            return "changed"
        if self._same_text(before, after):
            return "right"
        if _CONTENTS.search(name) and self._same_path(now):
            return "changed"  # what is to stand in a file; the file is what matters
        if _SAYING.search(name) or len(before.split()) > 1:
            return "named" if self._is_quoted(name, before) else "other"
        return "changed"

    def _counts(self, name: str) -> bool:
        """Whether an argument is about the matter itself and not only about where it lies."""
        value = self._given[name]
        if is_target(name, value):
            return _HOLDERS.search(name) is None
        if isinstance(value, list | dict):
            return bool(value) and _SETTINGS.search(name) is None
        return isinstance(value, str) and (
            _SAYING.search(name) is not None or len(value.split()) > 1
        )

    def _is_named(self, name: str, value: Any) -> bool:
        """Whether the error speaks of an argument, by its name or its value."""
        own = {word.lower() for word in _PARTS.findall(f"{name} {value}")}
        whole = str(value).strip().lower()
        if len(whole) > 1 and re.search(rf"(?<!\w){re.escape(whole)}(?!\w)", self._said.lower()):
            return True
        return any(
            word.startswith(said) or said.startswith(word)  # a repo is a repository
            for word in own
            if len(word) > 3
            for said in self._error
        )

    def _is_quoted(self, name: str, value: str) -> bool:
        """Whether it speaks of a text: whole names and whole values alone."""
        named = [word.lower() for word in _PARTS.findall(name)]
        whole = value.strip()
        return all(word in self._spoken for word in named) or (
            len(whole) > 2 and whole in self._said
        )

    def _same_path(self, now: Mapping[str, Any]) -> bool:
        paths = [
            name for name in self._given if name in now and re.search(r"path|file", name, re.I)
        ]
        return any(
            self._compared(name, now) in ("same", "right")
            for name in paths
            if not _CONTENTS.search(name)
        )

    def _same_leaves(self, before: Any, after: Any) -> bool:
        """Whether at least half of what they hold is the same or put right; of little, all but what is."""
        one, other = (
            Counter(list(_leaves(each, str)) or _leaves(each)) for each in (before, after)
        )
        gone, new = list((one - other).elements()), list((other - one).elements())
        left = len(gone) - self._righted(gone, new)
        return (
            left == 0 if one.total() <= 2 else left <= one.total() / 2 and (one & other).total() > 0
        )

    def _same_text(self, before: str, after: str) -> bool:
        one, other = (
            Counter(_TEXT.findall(text.lower())[:_WORDS_COMPARED]) for text in (before, after)
        )
        kept = (one & other).total()
        gone, new = list((one - other).elements()), list((other - one).elements())
        if _TOO_LONG.search(self._said) and kept > 2 and len(new) <= CHANGED * other.total():
            return True
        righted = self._righted(gone, new)
        short = one.total() <= SHORT
        lost, come = (0, ADDED) if short else (CHANGED * one.total(), one.total())
        left, added = len(gone) - righted, len(new) - righted
        return kept + righted > 0 and left <= lost and added <= come

    def _righted(self, gone: list[str], new: list[str]) -> int:
        """How many of the words that are gone were put right by new ones."""
        free, count = [word.lower() for word in new], 0
        for word in map(str.lower, gone[:100]):
            instead = next((one for one in free[:100] if self._puts_right(word, one)), None)
            if instead is not None:
                free.remove(instead)
                count += 1
        return count

    def _puts_right(self, word: str, instead: str) -> bool:
        if word in self._spoken and instead in self._spoken and not word.isdigit():
            return True  # an error that says what it wants
        return any(_near(word, part, NEAR_WORD) for part in (instead, *instead.split("_")))


def is_target(name: str, value: Any) -> bool:
    """Whether an argument identifies what a call is about."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return False
    if TARGET.search(name):
        return True
    return (
        isinstance(value, str)
        and not _SAYING.search(name)
        and not _CONTENTS.search(name)
        and _SHAPED.fullmatch(value) is not None
    )


def put_right(before: Any, after: Any) -> bool:
    """The same file in another folder, or another spelling of the same name. Numbers have none."""
    if not (isinstance(before, str) and isinstance(after, str)):
        return False
    hosts = [_ADDRESS.match(text) for text in (before, after)]
    if all(hosts) and not _same_host(*(found[1] for found in hosts if found)):
        return False
    ways = [text.replace("\\", "/").rstrip("/").split("/") for text in (before, after)]
    ends = [way[-1] for way in ways]
    if "/" in before + after and ends[0] == ends[1]:
        common = ends[0].split(".", 1)[0].lower() in _COMMON
        return not common or _within(*ways) or _within(*reversed(ways))
    return _near(ends[0], ends[1], NEAR)


def _same_host(one: str, other: str) -> bool:
    bare = [re.sub(r"^www\.|:\d+$", "", host.lower()) for host in (one, other)]
    return bare[0] == bare[1] or _near(bare[0], bare[1], NEAR)


def _within(one: list[str], other: list[str]) -> bool:
    """Whether all parts of one path stand in another, in their order."""
    rest = iter(other)
    return all(part in rest for part in one)


def _near(one: str, other: str, least: float) -> bool:
    """Another spelling: not of numbers, and not where digits alone differ."""
    letters = [re.sub(r"\d", "", word) for word in (one, other)]
    return (
        letters[0] != letters[1]
        and SequenceMatcher(None, one, other, autojunk=False).ratio() >= least
    )


def _only_leaves_out(given: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether nothing changed but that lists have lost items: what fails was left out, and not done."""
    changed = [n for n in given.keys() | now.keys() if given.get(n) != now.get(n)]
    return bool(changed) and all(
        isinstance(before := given.get(n), list)
        and isinstance(after := now.get(n), list)
        and len(after) < len(before)
        and all(item in before for item in after)
        for n in changed
    )


def _leaves(value: Any, of: type = object, under: str = "") -> Iterator[str]:
    """What a list or an object holds of a type, with the names it stands under."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _leaves(each, of, str(name))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each, of, under)
    elif isinstance(value, of):
        yield f"{under}={value}" if under else str(value)


def _json(given: Any) -> str:
    try:
        return canonical_json(given)
    except (TypeError, ValueError):
        return repr(given)
