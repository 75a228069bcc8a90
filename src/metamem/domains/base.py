"""What most domains have in common, so that a new one says only what is its own."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.space import Space
from metamem.core.types import SPLITS, Experience, Kind, Task


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many tasks, games or conversations each split has at most."""

    train: int
    valid: int
    test: int
    shift: int

    def __post_init__(self) -> None:
        for split in SPLITS:
            if self.of(split) < 1:
                raise UsageError(f"the split {split} needs at least one task")

    def of(self, split: str) -> int:
        size: int = getattr(self, split)
        return size

    def as_list(self) -> list[int]:
        return [self.of(split) for split in SPLITS]


class _AnyDomain:
    """What domains of all kinds have in common."""

    reward_range: tuple[float, float] = (0.0, 1.0)
    reward_name = (
        ""  # what stands over rewards; else `success`, and `reward` where they are no shares
    )
    suggestions: Mapping[str, Any] = {}
    origin = ""  # the scope whose data the tasks are; what is learned is promoted there
    whose: tuple[str, ...] = ()  # settings that say which data are those of `origin`, and no more
    trial: Mapping[str, Any] = {}  # settings under which `metamem doctor` gets a task quickly

    def describe(self) -> str:
        return inspect.getdoc(type(self)) or ""

    def invariants(self) -> tuple[str, ...]:
        return ()

    def kept_in(self, archive: Path) -> None:
        """Told before an archive keeps anything of the data of `origin`."""


class ParamsBase(_AnyDomain):
    """Defaults for the less used parts of a domain of parameters."""

    kind: Kind = "params"
    space: Space
    embeds = False  # whether it asks `trial.embedder`
    acts: tuple[str, ...] = ()  # costs that count what must happen: none of it is a warning

    async def open(self) -> None:
        """Called once before the first score, wherever it scores."""

    async def close(self) -> None:
        """Called once after the last."""

    def baselines(self) -> tuple[str, ...]:
        """The defaults are always among those that are to be beaten."""
        return ()

    def preset(self, name: str) -> Mapping[str, Any]:
        raise UsageError(f"there is no set of parameters called {name!r} here")


class DomainBase(_AnyDomain):
    """Defaults for the less used parts of a domain of worlds."""

    kind: Kind = "code"
    agent = "reader"
    forms = False
    # Settings under which its tasks are streams: each group has a memory of its own, and its tasks come
    # in the order of time. None where time means nothing here.
    streams: Mapping[str, Any] = {}
    lives = 0  # most lives of other groups that a memory is given before its own; 0: all of train
    # What tables call the row of the domain's own answers: `oracle` where they are a ceiling,
    # `planner` where something bounded makes them and a perfect player may do better.
    answers = "oracle"

    @property
    def rules(self) -> str:
        """The file rules.md beside the domain's own module; without one, the description."""
        path = Path(inspect.getfile(type(self))).with_name("rules.md")
        return path.read_text(encoding="utf-8") if path.is_file() else self.describe()

    def history(self, group: str) -> Sequence[Experience]:
        return ()

    def reserve(self) -> Sequence[Task]:
        """Further tasks of train, for those who ask for more than `tasks("train")` holds.

        Nothing is played on them unless it is asked for by number.
        """
        return ()

    def baselines(self) -> tuple[str, ...]:
        """Those that need a model take part where one is configured."""
        return (
            "no_memory",
            "trajectory_retrieval",
            "success_retrieval",
            "action_statistics",
            "reasoning_bank",
            "dynamic_cheatsheet",
            "g_memory",
        )
