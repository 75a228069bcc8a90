"""Coding as a domain: a project with a fault, an issue that describes it, tests that decide."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from metamem.core.cache import cache_folder
from metamem.core.errors import DataError, UsageError
from metamem.core.splits import check_split
from metamem.core.types import Task
from metamem.domains.base import DomainBase
from metamem.domains.coding.outcomes import Outcomes
from metamem.domains.coding.sources import GeneratedBugs, Source, TaskRows, checked_sizes
from metamem.domains.coding.tasks import Project, changed_lines, fixed_files, load_project
from metamem.domains.coding.workbench import COMMAND_SECONDS, TEST_SECONDS, RunLimits, Workbench
from metamem.domains.coding.world import MAX_STEPS, CodingWorld

_KEPT_PROJECTS = 512


class CodingDomain(DomainBase):
    """Repair a Python project so that its failing tests pass and the others stay whole.

    `data` is `generated`, or a JSONL file or folder of tasks. A size of 0 means all there are.
    `cache` is a folder for outcomes of test runs, `auto`, or `off`. `memory` is `shared`, or `project`:
    then each project has a memory of its own, and its bugs come in the order of time.
    """

    name = "coding"
    agent = "repair"
    forms = True
    max_steps = MAX_STEPS
    suggestions: Mapping[str, Any] = {"designs": 40, "final_repeats": 1}
    streams: Mapping[str, Any] = {"memory": "project"}

    def __init__(
        self,
        data: str = "generated",
        train: int = 0,
        valid: int = 0,
        test: int = 0,
        shift: int = 0,
        seed: int = 0,
        cache: str = "auto",
        memory: str = "shared",
        command_seconds: float = COMMAND_SECONDS,
        test_seconds: float = TEST_SECONDS,
    ) -> None:
        if not 0 < command_seconds <= 3600 or not 0 < test_seconds <= 3600:
            raise UsageError("commands and tests need more than 0 and at most 3600 seconds")
        if memory not in ("shared", "project"):
            raise UsageError(f"no memory {memory!r}", hint="known: shared, project")
        sizes = checked_sizes(train=train, valid=valid, test=test, shift=shift)
        self._source: Source = (
            GeneratedBugs(sizes, seed)
            if data == "generated"
            else TaskRows(Path(data).expanduser(), sizes, seed)
        )
        self._limits = RunLimits(command_seconds, test_seconds)
        self._cache = cache
        self._by_project = memory == "project"
        self._tasks: dict[str, tuple[Task, ...]] = {}
        self._version = ""
        self._live()

    def _live(self) -> None:
        """What belongs to this process."""
        folder = {"auto": cache_folder(), "off": None}.get(self._cache, Path(self._cache))
        self.bench = Workbench(Outcomes(folder), self._limits)
        self._project = lru_cache(maxsize=_KEPT_PROJECTS)(self._load)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k not in ("bench", "_project", "_tasks")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _tasks={})
        self._live()

    @property
    def version(self) -> str:
        if not self._version:
            own = self._source.version
            self._version = f"{own}-by-project" if self._by_project else own
        return self._version

    def describe(self) -> str:
        return (
            "Repair of Python projects. The agent reads an issue, looks at the files, edits them, runs"
            " commands in a jail and submits. Reward: the share of target tests that pass, 0 if any"
            f" other test is broken. Data: {self._source.describe()}."
        )

    def tasks(self, split: str) -> Sequence[Task]:
        check_split(split)
        if split not in self._tasks:
            found = self._source.tasks(split)
            self._tasks[split] = tuple(_in_time(found) if self._by_project else found)
        return self._tasks[split]

    def world(self, task: Task, seed: int) -> CodingWorld:
        """The project of a task. Nothing in it is left to chance, so the seed plays no part."""
        return CodingWorld(self._project_of(task), self.bench)

    def baselines(self) -> tuple[str, ...]:
        own = ("notes_file", "notes_file_seeded", "memory_bank", "code_rag")
        return (*super().baselines(), *own)

    def invariants(self) -> tuple[str, ...]:
        return (
            "Only changes to the project's own source count; tests and configuration are put back.",
            "The reward comes at submit or after the last step, and only once.",
            "An edit needs text that occurs exactly once in its file.",
            "A test that passed before and fails afterwards makes the reward 0.",
            "Commands have no network and are ended when they take too long.",
        )

    def oracle(self, task: Task) -> str:
        """Which lines to change into what."""
        files = self._project_of(task).files
        with _naming(task):
            fixed = fixed_files(task.data, files)
        told = []
        for path, text in sorted(fixed.items()):
            for line, old, new in changed_lines(files.get(path, ""), text):
                told.append(
                    f"In {path}, line {line}, change\n"
                    + "\n".join(old)
                    + "\ninto\n"
                    + "\n".join(new)
                )
        return "\n\n".join(told)

    def _project_of(self, task: Task) -> Project:
        return self._project(_Keyed(task))

    def _load(self, keyed: "_Keyed") -> Project:
        with _naming(keyed.task):
            return load_project(keyed.task.goal, keyed.task.data)


def _in_time(tasks: Sequence[Task]) -> list[Task]:
    ordered = sorted(tasks, key=lambda task: int(task.data["time"]))
    return [replace(task, group=task.data["project"]) for task in ordered]


@contextmanager
def _naming(task: Task) -> Iterator[None]:
    """What is wrong with the data is told with the row that it stands in."""
    try:
        yield
    except DataError as error:
        place = task.data.get("row") or f"the task {task.id}"
        raise DataError(f"{place}: {error.message}", hint=error.hint) from None


class _Keyed:
    """A task that can be looked up: `Task` itself holds a mapping."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def __hash__(self) -> int:
        return hash((self.task.id, self.task.goal))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Keyed) and self.task == other.task
