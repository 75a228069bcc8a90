"""Small helpers on plain text that designs may import: `from metamem.designs import text`.

They know English function words and nothing of any domain.
"""

import difflib
import re
from collections.abc import Iterable
from typing import Any

from metamem.core.tokens import count_tokens, truncate_tokens
from metamem.core.types import render_advice

FUNCTION_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "been",
        "by",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "he",
        "her",
        "him",
        "his",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "me",
        "my",
        "no",
        "nor",
        "not",
        "of",
        "off",
        "on",
        "onto",
        "or",
        "our",
        "out",
        "she",
        "so",
        "some",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "to",
        "up",
        "was",
        "we",
        "were",
        "what",
        "where",
        "which",
        "who",
        "will",
        "with",
        "you",
        "your",
    ]
)

_WORD = re.compile(r"[a-z]+")
_NUMBER = re.compile(r"\s*\b\d+\b")


def words(text: str) -> list[str]:
    """Lower-case words in order; numbers and signs are left out."""
    return _WORD.findall(text.lower())


def content_words(text: str) -> list[str]:
    """The words that carry meaning, each once, in order of first use."""
    return [w for w in dict.fromkeys(words(text)) if w not in FUNCTION_WORDS]


def kinds(text: str) -> str:
    """The text without its numbers: what kind of thing is meant, not which one."""
    return _NUMBER.sub("", text).strip()


def first_word(action: str) -> str:
    """What an action does, such as `push` in `push the lever`."""
    found = words(action)
    return found[0] if found else ""


def objects(action: str) -> list[str]:
    """What an action is about: its content words after the first word."""
    first = first_word(action)
    return [w for w in content_words(action) if w != first]


def overlap(left: Iterable[str], right: Iterable[str]) -> float:
    """Shared words as a share of all words, from 0 (none) to 1 (the same set)."""
    one, other = set(left), set(right)
    return len(one & other) / len(one | other) if one or other else 0.0


def substitutions(source: str, target: str) -> dict[str, str]:
    """Which words of `source` stand where `target` has others, when the two are laid alongside."""
    old, new = content_words(source), content_words(target)
    pairs: dict[str, str] = {}
    matcher = difflib.SequenceMatcher(a=old, b=new, autojunk=False)
    for tag, a_from, a_to, b_from, b_to in matcher.get_opcodes():
        if tag == "replace" and a_to - a_from == b_to - b_from:
            pairs.update(zip(old[a_from:a_to], new[b_from:b_to], strict=True))
    return pairs


def substitute(text: str, pairs: dict[str, str]) -> str:
    """The text with whole words replaced, all at once."""
    if not pairs:
        return text
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, sorted(pairs))) + r")\b")
    return pattern.sub(lambda found: pairs[found.group(1)], text)


def numbered(lines: Iterable[str]) -> str:
    return "\n".join(f"{n}. {line}" for n, line in enumerate(lines, 1))


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def as_text(advice: Any) -> str:
    """Advice as the agent would read it: text as it is, a structure as indented JSON."""
    return render_advice(advice)


def cap(text: str, tokens: int) -> str:
    """As many whole lines from the start as fit into the budget of tokens."""
    kept: list[str] = []
    left = tokens
    for line in text.split("\n"):
        left -= count_tokens(line)
        if left < 0:
            break
        kept.append(line)
    return "\n".join(kept) if kept else truncate_tokens(text, tokens)[0]
