"""Small helpers on plain text that designs may import: `from metamem.designs import text`.

They know English function words and nothing of any domain.
"""

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from metamem.core.tokens import count_tokens, truncate_tokens
from metamem.core.types import Experience, render_advice

if TYPE_CHECKING:
    from metamem.designs.toolbox import Tools

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
_PIECE = re.compile(r"\w{1,6}|[^\w\s]")
_LEFT_OUT = " [...] "


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


def tokens(text: str) -> int:
    """How many tokens a text has, by the count that budgets go by."""
    return count_tokens(text)


# --- long texts made short: what came first and what came last is kept -------------------------


def shorten(text: str, most: int) -> str:
    """A text of at most so many characters, else its beginning and its end."""
    if len(text) <= most:
        return text
    kept = most - len(_LEFT_OUT)
    if kept < 2:
        return text[: max(0, most)]
    return text[: kept - kept // 2] + _LEFT_OUT + text[-(kept // 2) :]


def ends(pieces: Sequence[str], most: int) -> list[str]:
    """As many pieces from both ends as fit into so many characters, with a note between.

    The first and the last are always there.
    """
    if sum(map(len, pieces)) <= most or len(pieces) <= 2:
        return list(pieces)
    first, last = 1, 1  # how many are taken from each end
    left = most - len(pieces[0]) - len(pieces[-1])
    while first + last < len(pieces):
        from_front = first <= last
        piece = pieces[first] if from_front else pieces[-last - 1]
        left -= len(piece)
        if left < 0:
            break
        first, last = (first + 1, last) if from_front else (first, last + 1)
    gone = len(pieces) - first - last
    note = [f"[... {gone} parts left out ...]"] if gone else []
    return [*pieces[:first], *note, *pieces[len(pieces) - last :]]


def transcript(experience: Experience, each: int = 600, most: int = 12_000) -> str:
    """An experience as text for a prompt: its messages, or else its steps and its reward.

    No observation and no message is longer than `each` characters, and the whole about `most`:
    what is in the middle goes first. Nothing where there are neither steps nor messages.
    """
    if experience.messages:
        said = [
            f"{f'{m.time}, ' if m.time else ''}{m.speaker}: {shorten(m.text, each)}"
            for m in experience.messages
        ]
        return "\n".join(ends(said, most))
    if not experience.steps:
        return ""
    steps = [
        f"> {shorten(step.action, each)}\n{shorten(step.observation, each)}"
        for step in experience.steps
    ]
    return "\n".join(
        [
            f"Goal: {shorten(experience.goal, each)}",
            f"At first: {shorten(experience.observation, each)}",
            *ends(steps, most),
            f"Reward at the end: {experience.reward:g}",
        ]
    )


# --- what a model wrote: nothing is believed to be there before it has been looked for ----------


async def ask(
    tools: "Tools", prompt: str, schema: dict[str, Any] | None = None, *, system: str = ""
) -> Any:
    """The model's reply, or None, with a line in the log, where there is no model or no answer."""
    try:
        reply = await tools.llm.ask(prompt, schema, system=system)
    except RuntimeError as error:
        tools.log(f"no answer from the model: {error}")
        return None
    if reply is None or (isinstance(reply, str) and not reply.strip()):
        tools.log("the model's answer was empty")
        return None
    return reply


def tagged(reply: str, tag: str) -> str:
    """What stands between the last <tag> that is closed and its </tag>; nothing where none is."""
    name = re.escape(tag)
    closings = [found.start() for found in re.finditer(f"</{name}>", reply, re.I)]
    if not closings:
        return ""
    openings = [found.end() for found in re.finditer(f"<{name}>", reply[: closings[-1]], re.I)]
    return reply[openings[-1] : closings[-1]].strip() if openings else ""


def repetitive(text: str, share: float = 0.6, run: int = 8) -> bool:
    """Whether a text goes round in circles: that share of its runs of words were there before.

    Texts of fewer than 200 words are never said to.
    """
    pieces = _PIECE.findall(text)
    if len(pieces) < 200:
        return False
    runs = [tuple(pieces[at : at + run]) for at in range(len(pieces) - run + 1)]
    return 1 - len(set(runs)) / len(runs) > share


def revised(old: str, new: str, most: int, collapse: float = 0.2) -> str:
    """A document after a model has rewritten it: the new text, or nothing where it is no good.

    No good is what is empty, goes round in circles, or has less than that share of the words of
    an old text of fifty words or more: a rewrite that loses nearly everything is a mishap. What
    is longer than `most` characters is cut after its last whole line.
    """
    new = new.strip()
    before = len(old.split())
    if not new or repetitive(new) or (before >= 50 and len(new.split()) < collapse * before):
        return ""
    if len(new) <= most:
        return new
    whole = new[: most + 1].rpartition("\n")[0].rstrip()
    return whole or new[:most]
