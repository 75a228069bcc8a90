"""The rules of `secrets.toml`, and which of them can find anything in a text at all.

Nearly every text has no secret, so that nearly all time goes into seeing that there is none. A rule
is tried only on texts that hold one of its plain words (`near`). Rules that never go past the end of
a line are tried only on lines with such a word. What a rule says of what stands behind the word, or
on the line (`after`, `holds`), leaves few of those. None of this changes what is found.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from metamem.core.errors import DataError
from metamem.core.secret_judges import JUDGES, Judge

if TYPE_CHECKING:  # loaded with the first long text: who is in a hurry has none
    import numpy as np
    from numpy.typing import NDArray

LONG = 2000  # letters from which on a text is looked through once for the words of all rules


@dataclass(frozen=True, slots=True)
class Rule:
    """One shape of secrets."""

    kind: str
    near: tuple[str, ...]
    pattern: re.Pattern[str]
    entropy: float
    judge: Judge
    one_line: bool  # what it finds never goes past the end of a line
    after: re.Pattern[str] | None  # stands behind one of `near` in all that it finds
    holds: re.Pattern[str] | None  # stands in every text, or line, in which it finds anything


@cache
def rules() -> tuple[Rule, ...]:
    read = tomllib.loads(files(__package__).joinpath("secrets.toml").read_text(encoding="utf-8"))
    return tuple(_rule(each) for each in read["rule"])


def _rule(given: Mapping[str, Any]) -> Rule:
    try:
        return Rule(
            given["kind"],
            tuple(given["near"]),
            re.compile(given["pattern"]),
            float(given.get("entropy", 0)),
            JUDGES[given.get("judge", "")],
            bool(given.get("line")),
            re.compile(given["after"]) if "after" in given else None,
            re.compile(given["holds"]) if "holds" in given else None,
        )
    except (KeyError, re.error) as error:
        raise DataError(f"a rule of secrets.toml cannot be used: {error}") from error


# --- where a rule can find something -----------------------------------------------------------


def small(text: str) -> str:
    """A text in small letters, a letter for a letter; empty where some have no small one of equal
    length."""
    low = text.lower()
    return low if len(low) == len(text) else ""


def plain(text: str) -> bool:
    """Whether letters of patterns that take both cases are found by their small ones: a dotless i
    and a long s are not small letters of i and s, though patterns take them for those."""
    return text.isascii() or ("ı" not in text and "ſ" not in text)


def places(rule: Rule, words: Sequence[str], low: str, hints: bool) -> Iterator[int]:
    """Where one of the words stands, once a line at most, where the rule may find something there."""
    behind = rule.after.match if hints and rule.after else None
    for word in words:
        size = len(word)
        at = low.find(word)
        while at >= 0:
            if behind is None or behind(low, at + size):
                yield at
                at = low.find("\n", at)
                if at < 0:
                    break
            else:
                at += 1
            at = low.find(word, at)


def may_stand(rule: Rule, words: Sequence[str], low: str) -> bool:
    """Whether a rule may find something in a text that has one of its words."""
    if rule.holds and not rule.holds.search(low):
        return False
    return not rule.after or any(True for _ in places(rule, words, low, True))


def lines(rule: Rule, words: Sequence[str], low: str, hints: bool) -> Iterator[tuple[int, int]]:
    """From where to where the lines go in which a rule may find something."""
    holds = rule.holds.search if hints and rule.holds else None
    for begin in sorted({low.rfind("\n", 0, at) + 1 for at in places(rule, words, low, hints)}):
        end = low.find("\n", begin)
        end = len(low) if end < 0 else end
        if holds is None or holds(low, begin, end):
            yield begin, end


# --- the words of all rules at once ------------------------------------------------------------


def near(low: str) -> dict[int, list[str]]:
    """The words of rules, by the rule's number, that may stand in a long text: any three letters of
    each that follow one another do. To look for every word would take most of the time."""
    import numpy as np

    words = _words()
    there = np.zeros(_SIGNS**3, np.bool_)
    there[_threes(low.encode("utf-8", "replace") + b"\n")] = True
    found: dict[int, list[str]] = {}
    inside = np.logical_and.reduceat(there[words.threes], words.begins)
    inside[words.short] = there.reshape(-1, _SIGNS)[words.twos].any(axis=1)
    for place in np.flatnonzero(inside).tolist():
        found.setdefault(words.rules[place], []).append(words.words[place])
    return found


# Signs that words of rules have, in small letters. All digits count as one; so does what else is ASCII,
# and so does what is not.
_KNOWN = "abcdefghijklmnopqrstuvwxyz-_:=/.~\"' "
_SIGNS = len(_KNOWN) + 3


@cache
def _numbers() -> bytes:
    rest = len(_KNOWN)
    numbers = [rest + 1] * 128 + [rest + 2] * 128
    for digit in b"0123456789":
        numbers[digit] = rest
    for number, sign in enumerate(_KNOWN):
        numbers[ord(sign)] = number
    return bytes(numbers)


def _threes(content: bytes) -> "NDArray[np.uint16]":
    """A number for every three bytes that follow one another."""
    import numpy as np

    signs = np.frombuffer(content.translate(_numbers()), np.uint8)
    numbers = signs[:-2].astype(np.uint16)
    for more in (signs[1:-1], signs[2:]):
        numbers *= _SIGNS
        numbers += more
    return numbers


@dataclass(frozen=True, slots=True)
class _Words:
    """All words of all rules, with the numbers of three bytes each; some words have but two."""

    rules: list[int]
    words: list[str]
    threes: "NDArray[np.uint16]"
    begins: list[int]  # where those of each word begin
    short: list[int]  # which words have two bytes
    twos: list[int]  # and the numbers of these


@cache
def _words() -> _Words:
    import numpy as np

    every = [(number, word) for number, rule in enumerate(rules()) for word in rule.near]
    threes: list[int] = []
    begins, short, twos = [], [], []
    for place, (_, word) in enumerate(every):
        begins.append(len(threes))
        threes += _threes(word.encode() + b" " * (len(word) < 3)).tolist()
        if len(word) < 3:
            short.append(place)
            twos.append(threes[-1] // _SIGNS)
    return _Words(
        [number for number, _ in every],
        [word for _, word in every],
        np.array(threes, np.uint16),
        begins,
        short,
        twos,
    )
