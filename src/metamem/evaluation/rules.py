"""The rules by which an evaluation is played."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeVar

from metamem.core.errors import UsageError
from metamem.core.waiting import USUAL, USUAL_ASKS

# How `collect` is written down. Fingerprints hold this form, so it must never change: in it, 0
# has always stood for all tasks.
_STORED: dict[int | None, int] = {None: 0, 0: -1}
# How memory is asked several times in an episode, where it is. Once it saw what its earlier answers
# had left; then each came from a copy of its own ("apart"); now agents also keep their place in what
# they were told ("in place"). Results of these are not compared with one another.
_ASKS = {"frozen": "apart, in place", "streaming": "in place"}
# Rules that came later, as they always were before: fingerprints hold them only where they differ.
_LATER: dict[str, Any] = {"tasks": 0, "ask_when": 0, "experience": "whole", "collectors": []}


# All of it, nothing, or the same texts in a disorder that teaches nothing (`scrambling.py`).
Experienced = Literal["whole", "none", "scrambled"]
EXPERIENCED: tuple[Experienced, ...] = ("whole", "none", "scrambled")


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of play. Part of every fingerprint."""

    rollout: Literal["frozen", "streaming"] = "frozen"
    repeats: int = 1
    collect: int | None = None  # how many collection tasks; None: all that the split offers
    max_steps: int = 0  # 0: the domain's own
    advice_tokens: int = 4000
    ask_every: int = 0  # ask memory again after so many steps; 0: only before the first
    ask_when: int = 0  # ask when what it waits for has come, at most so many times; 0: it is not
    tasks_from: Literal["split", "alma"] = "split"
    fold: Literal[0, 1] = 0  # 1: the halves of train change places
    tasks: int = 0  # how many deployment tasks, drawn by a fixed order; 0: all
    experience: Experienced = "whole"  # what memory is given of what was collected
    # The designs, by id, with which the collection tasks were played again, round by round.
    collectors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.rollout not in ("frozen", "streaming"):
            raise UsageError(f"no rollout called {self.rollout!r}", hint="known: frozen, streaming")
        if self.tasks_from not in ("split", "alma"):
            raise UsageError(
                f"no source of tasks called {self.tasks_from!r}", hint="known: split, alma"
            )
        if self.fold not in (0, 1):
            raise UsageError(f"no fold {self.fold}: there are 0 and 1")
        if self.experience not in EXPERIENCED:
            raise UsageError(
                f"no experience called {self.experience!r}", hint=f"known: {', '.join(EXPERIENCED)}"
            )
        if self.repeats < 1:
            raise UsageError(f"repeats must be at least 1, not {self.repeats}")
        for name in ("collect", "max_steps", "ask_every", "ask_when", "tasks"):
            if (getattr(self, name) or 0) < 0:
                raise UsageError(f"{name} must not be negative")
        if self.advice_tokens < 1:
            raise UsageError("advice_tokens must be at least 1")
        if self.ask_every and self.ask_when:
            raise UsageError("memory is asked every so many actions, or when it wishes: not both")

    @property
    def asks_again(self) -> bool:
        """Whether memory may also be asked while the agent acts."""
        return bool(self.ask_every or self.ask_when)

    @property
    def asked(self) -> str:
        """When memory is asked, in words."""
        if self.ask_every:
            return f"before the first action and after every {self.ask_every} steps"
        if self.ask_when:
            return (
                "before the first action and again when what it waited for had come, at most "
                f"{self.ask_when} times in an episode"
            )
        return "once, before the first action"

    def to_json(self) -> dict[str, Any]:
        collect, collectors = _STORED.get(self.collect, self.collect), list(self.collectors)
        stored = {**asdict(self), "collect": collect, "collectors": collectors}
        for name, usual in _LATER.items():
            if stored[name] == usual:
                del stored[name]
        if self.ask_when:  # what a design that names nothing waits for is a rule, too
            stored["usual_wait"] = USUAL.to_json()
        if self.asks_again:
            stored["asks"] = _ASKS[self.rollout]
        return stored

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Rules":
        stored = data.get("collect", _STORED[None])
        meant = {number: collect for collect, number in _STORED.items()}
        own = {name: value for name, value in data.items() if name not in ("asks", "usual_wait")}
        collectors = tuple(data.get("collectors", ()))
        return Rules(**{**own, "collect": meant.get(stored, stored), "collectors": collectors})


def asking(words: str) -> dict[str, int]:
    """When memory is asked, from the words of the command line: `once`, `every:5`, `when`."""
    if words == "once":
        return {"ask_every": 0, "ask_when": 0}
    if words == "when":
        return {"ask_every": 0, "ask_when": USUAL_ASKS}
    when, _, number = words.partition(":")
    if when in ("every", "when") and number.isdecimal() and int(number):
        return {"ask_every": 0, "ask_when": 0, f"ask_{when}": int(number)}
    raise UsageError(f"memory cannot be asked {words!r}", hint="known: once, every:N, when, when:N")


Item = TypeVar("Item")


def halved(items: Sequence[Item], fold: int) -> tuple[Sequence[Item], Sequence[Item]]:
    """What is collected from, and what is deployed on."""
    middle = len(items) // 2
    return (items[middle:], items[:middle]) if fold else (items[:middle], items[middle:])
