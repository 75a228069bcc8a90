"""Where tasks come from: the generated bugs, or a JSONL file of own rows or SWE-bench's."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from metamem.core.errors import UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.core.types import SPLITS, Task
from metamem.domains.coding import projects
from metamem.domains.coding.rows import Row, read_rows
from metamem.domains.coding.tasks import changed_lines
from metamem.domains.coding.testids import defined

TASKS_FILE = "tasks.jsonl"
Sizes = Mapping[str, int]  # 0 stands for all there are


class Source(Protocol):
    @property
    def version(self) -> str: ...

    def tasks(self, split: str) -> Sequence[Task]: ...

    def describe(self) -> str: ...


@dataclass(frozen=True)
class GeneratedBugs:
    """Own projects, made anew for each task, with a fault in each; the seed decides them all."""

    sizes: Sizes
    seed: int

    @property
    def version(self) -> str:
        parts = content_id(projects.version(), self.seed, dict(self.sizes))
        return f"generated-{parts[:16]}"

    def tasks(self, split: str) -> list[Task]:
        found = projects.bugs(split, self.seed, self.sizes[split])
        return [self._task(split, n, bug) for n, bug in enumerate(found)]

    def describe(self) -> str:
        return "own projects with a fault in each; shift has projects that no other split has"

    def _task(self, split: str, number: int, bug: projects.Bug) -> Task:
        targets = list(bug.fail_to_pass)
        data = {
            "files": bug.files,
            "fix": bug.fix,
            "fail_to_pass": targets,
            "pass_to_pass": list(bug.pass_to_pass),
            "visible": [test for test in targets if defined(test, bug.files)],
            "project": bug.project,
            "time": bug.time,
            "merged": _merged(bug),
        }
        # The bug's own id may name its place; a number says nothing.
        return Task(f"{split}-{number:03d}", bug.statement, bug.difficulty, data)


def _merged(bug: projects.Bug) -> str:
    """The change that mended the bug in the end, in the form in which agents write theirs."""
    return " and ".join(
        json.dumps({"path": path, "find": "\n".join(old), "replace": "\n".join(new)})
        for path, text in sorted(bug.fix.items())
        for _, old, new in changed_lines(bug.files[path], text)
    )


@dataclass(frozen=True)
class TaskRows:
    """Tasks of a JSONL file. A row may name its split; else they are dealt by a hash of its id."""

    path: Path
    sizes: Sizes
    seed: int

    @property
    def version(self) -> str:
        text = self._file.read_text(encoding="utf-8")
        return f"rows-{content_id(text, self.seed, dict(self.sizes))[:16]}"

    def tasks(self, split: str) -> list[Task]:
        place = {row.id: number for number, row in enumerate(self._rows)}
        found = [_task(row, place[row.id]) for row in self._of_split(split)]
        return _first(found, self.sizes[split])

    def describe(self) -> str:
        return f"{len(self._rows)} tasks from {self._file.name}"

    @property
    def _file(self) -> Path:
        return self.path / TASKS_FILE if self.path.is_dir() else self.path

    @cached_property
    def _rows(self) -> list[Row]:
        try:
            return read_rows(self._file)
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"no coding tasks at {self.path}: {getattr(error, 'strerror', None) or error}",
                hint=f"give a JSONL file, a folder with {TASKS_FILE}, or data='generated'",
            ) from None

    def _of_split(self, split: str) -> list[Row]:
        """In the order of a hash. Repositories kept for shift give tasks to no other split."""
        rows = sorted(self._rows, key=lambda r: derive_seed("row", self.seed, r.id))
        if any(row.split for row in rows):
            return [row for row in rows if row.split == split]
        origins = sorted({r.origin for r in rows}, key=lambda o: derive_seed("repo", self.seed, o))
        kept = set(origins[: len(origins) // 4 or (len(origins) > 1)])
        shift = [row for row in rows if row.origin in kept]
        others = [row for row in rows if row.origin not in kept]
        third = len(others) // 3
        dealt = {
            "train": others[: len(others) - 2 * third],
            "valid": others[len(others) - 2 * third : len(others) - third],
            "test": others[len(others) - third :],
            "shift": shift,
        }
        return dealt[split]


def _task(row: Row, place: int) -> Task:
    """Rows stand in the order of time: the place of a row says when its bug was found."""
    told = {"project": row.origin or "all", "time": place}
    name = f"task-{content_id(row.id)[:12]}"  # ids of issues can tell what the fault is
    return Task(name, row.issue, row.difficulty or row.origin, {**row.data, **told})


def _first(values: Sequence[Any], size: int) -> list[Any]:
    return list(values[:size] if size else values)


def checked_sizes(**sizes: int) -> Sizes:
    for split in SPLITS:
        if sizes[split] < 0:
            raise UsageError(f"the split {split} cannot have {sizes[split]} tasks")
    return sizes
