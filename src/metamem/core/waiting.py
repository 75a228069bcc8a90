"""When memory is asked again while an agent acts.

What a design waits for is plain data: the host checks it after every step and enters the jail only
when it has come.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from metamem.core.types import Observation, Query

MOST_WORDS = 32  # phrases that one may wait for at once
LONGEST_WORDS = 200  # characters of a phrase
_QUESTION = re.compile(r"\w\s?\?(?=$|[\s\"'”’)\]])")


@dataclass(frozen=True, slots=True)
class Wait:
    """What a design waits for before it is asked again: any of what is named here. Nothing: never."""

    steps: int = 0  # so many actions were done
    new_actions: bool = False  # something can be done that could not be done so far
    question: bool = False  # the observation asks something that it did not ask a step before
    words: tuple[str, ...] = ()  # the observation has one of these, which it had not a step before
    stuck: int = 0  # so many actions in a row brought nothing to see that had not been seen
    apart: int = 1  # whatever comes, no sooner than so many actions after the last question

    def __post_init__(self) -> None:
        words = (self.words,) if isinstance(self.words, str) else tuple(self.words)
        object.__setattr__(self, "words", words)
        for name in ("steps", "stuck", "apart"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise ValueError(f"Wait({name}=...) is a count, not {value!r}")
        for name in ("new_actions", "question"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"Wait({name}=...) is true or false")
        if len(words) > MOST_WORDS:
            raise ValueError(f"Wait(words=...) has more than {MOST_WORDS} phrases")
        if not all(isinstance(w, str) and 0 < len(w.strip()) <= LONGEST_WORDS for w in words):
            raise ValueError(
                f"Wait(words=...) are phrases, none empty or above {LONGEST_WORDS} characters"
            )

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "words": list(self.words)}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Wait":
        """Raises a ValueError or TypeError where it is none: it may come from learned code."""
        return Wait(**data)


NEVER = Wait()
USUAL_ASKS = 10  # in an episode, where memory itself says when it is asked
# What a design that names nothing waits for. Part of the rules of a run, so of its fingerprint.
USUAL = Wait(steps=10)


@dataclass(frozen=True, slots=True)
class Answer:
    """What `retrieve` returned: the advice, and what the design waits for where it says so."""

    advice: Any
    wait: Wait | None = None
    seconds: float = 0.0  # that the design took
    read: frozenset[str] = frozenset(Query.__slots__)  # the parts of the query that it looked at


class Watch:
    """Says when memory is to be asked in one episode, by the rule of the run.

    Always before the first action; then after every so many actions, or when what the design waits
    for has come, as long as it was asked fewer than `most` times; else never again.
    """

    def __init__(self, first: Observation, every: int = 0, most: int = 0) -> None:
        self._every, self._most = every, most
        self._wait = NEVER
        self._asks = 0
        self._text = first.text
        self._texts = {first.text}
        self._actions = set(first.actions)
        self._steps = 0  # since memory was asked
        self._stale = 0  # since anything new was seen, or memory was asked
        self._why = ""  # the first thing waited for that came since memory was asked

    @property
    def why(self) -> str:
        """Why memory is to be asked now; empty where it is not, or before the first action."""
        if self._every:
            return f"{self._every} actions" if self._steps >= self._every else ""
        if self._asks >= self._most or self._steps < self._wait.apart:
            return ""
        return self._why

    @property
    def due(self) -> bool:
        return not self._asks or bool(self.why)

    def asked(self, wait: Wait | None) -> None:
        """Memory was asked, and now waits for this; None: it does not say."""
        self._wait = USUAL if wait is None else wait
        self._asks += 1
        self._steps = self._stale = 0
        self._why = ""

    def saw(self, seen: Observation) -> None:
        """What came back after an action."""
        before, self._text = self._text, seen.text
        self._steps += 1
        if self._asks >= self._most:
            return  # nothing more is waited for
        self._stale = self._stale + 1 if seen.text in self._texts else 0
        self._why = self._why or self._come(seen, before)
        self._texts.add(seen.text)
        self._actions.update(seen.actions)

    def _come(self, seen: Observation, before: str) -> str:
        wait = self._wait
        if wait.new_actions and not self._actions.issuperset(seen.actions):
            return "new actions"
        if wait.question and _questions(seen.text) - _questions(before):
            return "a question"
        for words in wait.words:
            if _has(seen.text, words) and not _has(before, words):
                return f"the words {words!r}"
        if wait.stuck and self._stale >= wait.stuck:
            return f"nothing new for {self._stale} actions"
        if wait.steps and self._steps >= wait.steps:
            return f"{self._steps} actions"
        return ""


def _questions(text: str) -> set[str]:
    if "?" not in text:
        return set()
    return {line for line in text.splitlines() if _QUESTION.search(line)}


def _has(text: str, words: str) -> bool:
    return bool(_pattern(words).search(text))


@lru_cache(maxsize=1024)
def _pattern(words: str) -> re.Pattern[str]:
    """The phrase as whole words, whatever the case and the spaces."""
    body = r"\s+".join(map(re.escape, words.split()))
    return re.compile(rf"(?<!\w){body}(?!\w)", re.IGNORECASE)
