"""Texts as words. Nothing here knows a domain: words, numbers, and English function words."""

import re
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(r"[^\W\d_]+|\d+")

_FUNCTION_WORDS = """
a an the this that these those such same other another any some each every all both either
neither no not none and or but nor so if then else when while until unless because as than
of to from in into on onto at by with without for about under over above below between
through during before after against near next off out up down i me my you your he him his
she her it its we us our they them their who whom whose which what where why how is am are
was were be been being do does did done have has had having will would shall should can
could may might must there here again once only just also too very more most less least
first second third last finally usually often always never sometimes s t
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
_AROUND = " .,;:!?\"'`“”‘’«»*"
AWAY = frozenset({"from", "off", "out"})
TOWARD = frozenset({"to", "in", "into", "on", "onto"})


def stem(word: str) -> str:
    """A plural and its singular as one word; nothing cleverer."""
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] not in "su" else word


@lru_cache(maxsize=65536)
def tokens(text: str) -> tuple[str, ...]:
    """Every word (stemmed, lower case) and number, in order."""
    return tuple(stem(token) for token in _TOKEN.findall(text.lower()))


@lru_cache(maxsize=65536)
def content_words(text: str) -> tuple[str, ...]:
    """The words that carry meaning, in order, each once: no numbers, no function words."""
    return tuple(
        dict.fromkeys(t for t in tokens(text) if not t.isdigit() and t not in FUNCTION_WORDS)
    )


@lru_cache(maxsize=65536)
def spelled(text: str) -> str:
    """A text as written, but for case, spaces, and quotes and stops around it."""
    return " ".join(text.lower().split()).strip(_AROUND)


@dataclass(frozen=True, slots=True)
class ActionText:
    """An action as text: its first word, the things it names, and what kind it is of."""

    verb: str
    things: tuple[str, ...]  # as named, with their numbers
    same_things: tuple[str, ...]  # sorted: equal for actions on the same things
    words: tuple[str, ...]  # content words, without numbers
    thing_words: tuple[tuple[str, ...], ...]  # the words of each thing, without numbers
    numbers: tuple[str, ...]
    direction: int  # -1 away from something, 1 toward it, 0 neither


@lru_cache(maxsize=65536)
def read_action(action: str) -> ActionText:
    parts = tokens(action)
    things: list[list[str]] = [[]]
    for token in parts[1:]:
        if token in FUNCTION_WORDS:
            things.append([])
        else:
            things[-1].append(token)
    named = tuple(" ".join(thing) for thing in things if thing)
    return ActionText(
        verb=parts[0] if parts else "",
        things=named,
        same_things=tuple(sorted(named)),
        words=content_words(action),
        thing_words=tuple(tuple(t for t in thing if not t.isdigit()) for thing in things if thing),
        numbers=tuple(t for t in parts if t.isdigit()),
        direction=(not TOWARD.isdisjoint(parts)) - (not AWAY.isdisjoint(parts)),
    )
