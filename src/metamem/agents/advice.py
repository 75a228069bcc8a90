"""Advice as an attentive stranger reads it: lines that may be steps, and lines that relate words.

Any structure will do: prose, lists, numbered steps, JSON. No key or format is privileged.
"""

import json
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Any

from metamem.agents.text import ActionText, content_words, spelled, tokens

_MARKER = re.compile(r"^(?:[-*•>]+|(?:step\s+)?\(?(\d{1,3})[.):](?=\s))\s*", re.IGNORECASE)
CLAUSE = re.compile(r"[.;!?](?=\s|$)|,\s|->|=>|→|⇒|\bthen\b", re.IGNORECASE)
SAYS_BAD = re.compile(
    r"\b(?:avoid|never|don't|do not|did not|does not|not to|fail\w*|lost|wrong\w*|useless|vain)\b"
    r"|\breward\W{0,4}(?:of |was )?-?0(?:\.0+)?(?!\.?\d)",
    re.IGNORECASE,
)
_KEY_WORDS = 3  # a heading longer than this is a sentence: it does not name what is listed below
_ALIKE = 0.6  # a clause that shares less with an action does not describe it
_LATER = 0.85  # what comes later in a list matters a little less

Notes = dict[str, dict[str, float]]  # word → words of the goal it is tied to, how strongly


@dataclass(slots=True)
class Clause:
    """A piece of a line that may be a step."""

    lead: str  # its first content word; empty where it has none
    words: frozenset[str]
    goal_words: frozenset[str]
    numbers: tuple[str, ...]
    spelling: str  # as it stands, to be compared with actions word for word
    line: str  # the same of the whole line, where it is the first of it
    rest: int  # further clauses of the line after it
    listed: bool  # its line is marked as a point or a number


@dataclass(slots=True)
class Block:
    """Lines that belong together, to be followed in order."""

    heading: tuple[str, ...] = ()  # content words of the short headings above
    clauses: list[Clause] = field(default_factory=list)
    position: int = 0  # the clause expected next
    trust: float = 1.0
    about_goal: bool = True  # some word of it is a word of the goal
    paces: list[int] = field(default_factory=list)  # before each clause: how many may be steps
    kept: int = 0  # lines that came true word for word
    astray: bool = False  # it went another way than this world does
    warns: bool = False  # what stands above says that this was not good
    lists: bool = False  # some of its lines are marked: the others are no steps, only said

    def pace(self, verbs: Container[str]) -> None:
        """Count as possible steps only clauses that begin as actions do."""
        self.paces = [0]
        for clause in self.clauses:
            self.paces.append(self.paces[-1] + (clause.lead in verbs))

    def distance(self, place: int) -> int:
        """Possible steps from the expected clause to another; negative for those passed."""
        steps = self.paces[place] - self.paces[self.position]
        return steps if place >= self.position else min(steps, -1)


@dataclass(slots=True)
class ReadAdvice:
    blocks: list[Block]
    notes: Notes


def _outline(value: Any, indent: int = 0) -> Iterator[str]:
    """A JSON value as an indented outline: keys become headings."""
    pad = " " * indent
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, dict | list):
                yield f"{pad}{key}:"
                yield from _outline(inner, indent + 1)
            else:
                first, *more = str(inner).splitlines() or [""]
                yield f"{pad}{key}: {first}"
                yield from (f"{pad} {line}" for line in more)
    elif isinstance(value, list):
        for inner in value:
            yield from _outline(inner, indent + 1)
            if _is_nested(inner):
                yield ""  # a plan or episode of its own, not a line of one
    else:
        yield from (pad + line for line in str(value).splitlines())


def _is_nested(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, list) or any(isinstance(item, dict | list) for item in inner)


def lines_of(text: str) -> list[str]:
    stripped = text.strip()
    if stripped[:1] in ("{", "["):
        try:
            return list(_outline(json.loads(stripped)))
        except (ValueError, RecursionError):
            pass  # not JSON after all, or cut off: read it as it stands
    return text.replace("\\n", "\n").splitlines()


def read_advice(text: str, goal: tuple[str, ...]) -> ReadAdvice:
    """Blocks of possible steps, and notes: words that stand together with words of the goal."""
    wanted = frozenset(goal)
    block = Block()
    blocks = [block]
    notes: Notes = {}
    headings: list[tuple[int, tuple[str, ...]]] = []  # (indent, words), outermost first
    gap, number = False, 0  # an empty line came before; the number of the last line

    for line in lines_of(text):
        bare = line.strip().strip("{}[]\"', ")
        if not any(c.isalnum() for c in bare):
            gap = gap or not line.strip()
            continue
        indent = len(line) - len(line.lstrip())
        marked = _MARKER.match(bare)
        before, number = number, int(marked[1]) if marked and marked[1] else 0
        if gap and block.clauses and not 1 < number == before + 1:  # a list may have wide lines
            block = Block(heading=block.heading, warns=block.warns)
            blocks.append(block)
        gap = False
        if marked:
            bare = bare[marked.end() :]
            indent += 1  # a list item belongs to the unmarked line above it
        title = bare.startswith("#")
        if title:
            indent = -10 + len(bare) - len(bare.lstrip("#"))
        while headings and headings[-1][0] >= indent:
            headings.pop()
        head, colon, rest = bare.partition(":")
        heads = title or (bool(colon) and not any(c.isalnum() for c in rest))
        words = content_words(bare)

        if heads:
            headings.append((indent, words))
            block = Block(heading=_keys(headings), warns=bool(SAYS_BAD.search(bare)))
            blocks.append(block)
            continue
        if not marked and not block.lists and SAYS_BAD.search(bare):
            block.warns = True
        _note((*_keys(headings), *words), wanted, notes)
        body = rest if colon and head.count(" ") < _KEY_WORDS else bare
        block.lists = block.lists or bool(marked)
        parts = [part for part in CLAUSE.split(body) if tokens(part)]
        for n, part in enumerate(parts):
            found = content_words(part)
            named = frozenset(found)
            block.clauses.append(
                Clause(
                    found[0] if found else "",
                    named,
                    named & wanted,
                    numbers=tuple(t for t in tokens(part) if t.isdigit()),
                    spelling=spelled(part),
                    line="" if n else spelled(bare),
                    rest=len(parts) - 1 - n,
                    listed=bool(marked),
                )
            )

    return ReadAdvice([b for b in blocks if b.clauses], notes)


def _keys(headings: list[tuple[int, tuple[str, ...]]]) -> tuple[str, ...]:
    return tuple(word for _, words in headings if len(words) <= _KEY_WORDS for word in words)


def _note(words: tuple[str, ...], wanted: frozenset[str], notes: Notes) -> None:
    """A line that names words of the goal lends weight to the other words it names."""
    named = [word for word in dict.fromkeys(words) if word in wanted]
    if not named:
        return
    weight = 1.0
    for word in dict.fromkeys(words):
        if word not in wanted:
            ties = notes.setdefault(word, {})
            for goal_word in named:
                ties[goal_word] = max(ties.get(goal_word, 0.0), weight)
            weight *= _LATER


def likeness(action: ActionText, words: frozenset[str], wanted: frozenset[str]) -> float:
    """How well a clause describes an action, 0 to 1. Words of the goal may be left unsaid."""
    common = sum(word in words for word in action.words)
    if not common:
        return 0.0
    unsaid = sum(word in wanted and word not in words for word in action.words)
    alike = 2 * common / (len(action.words) - unsaid + len(words))
    if alike < _ALIKE:
        return 0.0
    if common == 1 < len(action.words) and words != {action.verb}:
        return 0.0  # one word in common makes a note, not a step
    if len(action.things) > 1 and not any(
        word in words or word in wanted for word in action.thing_words[0]
    ):
        return 0.0  # it acts on something else
    return 2 * alike - 1
