"""What advice was worth at a recorded moment: how much of what was wanted then is in it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from metamem.core.tokens import count_tokens
from metamem.core.types import Experience

VERSION = "2"
HELD = 0.8  # share of a fact's words that advice must have to hold it
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Something that good advice would have held: an action that then succeeded, or a useful fact."""

    kind: Literal["action", "fact"]
    text: str


def wanted_of(experience: Experience) -> list[Wanted]:
    """The actions that paid; all actions of an episode that paid as a whole; none of a failure."""
    paid = [step.action for step in experience.steps if step.reward > 0]
    if not paid and experience.reward > 0:
        paid = [step.action for step in experience.steps]
    return [Wanted("action", action) for action in dict.fromkeys(paid) if _words(action)]


def worth(advice: str, wanted: Sequence[Wanted], cost: float, known: Iterable[str] = ()) -> float:
    """The share of what was wanted that the advice holds, less a cost for each token; 0 to 1.

    `known` are the actions that were wanted at any moment. Who names several of them hedges: the
    reward is shared among all that are named, so that a list of everything is worth a guess.
    """
    held = [each for each in wanted if _holds(advice, each)]
    share = len(held) / len(wanted)
    right = {each.text for each in held if each.kind == "action"}
    named = {text for text in known if _holds(advice, Wanted("action", text))} | right
    sure = len(right) / len(named) if right else 1.0
    return min(1.0, max(0.0, share * sure - cost * count_tokens(advice)))


def _holds(advice: str, wanted: Wanted) -> bool:
    said, words = _words(advice), _words(wanted.text)
    if wanted.kind == "fact":
        return sum(word in set(said) for word in words) >= HELD * len(words)
    return f" {' '.join(words)} " in f" {' '.join(said)} "


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
