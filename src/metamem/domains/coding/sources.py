"""Where tasks come from: the generated bugs, or a JSONL file (own rows or SWE-bench's).

A row of SWE-bench has repo, base_commit, problem_statement, patch, test_patch, FAIL_TO_PASS and
PASS_TO_PASS; clones lie in `repos/` beside the file, as `repos/owner__name` or `repos/name`.
"""

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from metamem.core.errors import DataError, UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.core.types import SPLITS, Task
from metamem.domains.coding import projects

TASKS_FILE = "tasks.jsonl"
CLONES_FOLDER = "repos"
Sizes = Mapping[str, int]  # 0 stands for all there are


class Source(Protocol):
    @property
    def version(self) -> str: ...

    def tasks(self, split: str) -> Sequence[Task]: ...

    def describe(self) -> str: ...


@dataclass(frozen=True)
class GeneratedBugs:
    """Own projects with a fault in each task; the seed decides which faults."""

    sizes: Sizes
    seed: int

    @property
    def version(self) -> str:
        parts = content_id(projects.version(), self.seed, dict(self.sizes))
        return f"generated-{parts[:16]}"

    def tasks(self, split: str) -> list[Task]:
        found = projects.bugs(split, self.seed)
        return [self._task(split, n, bug) for n, bug in enumerate(_first(found, self.sizes[split]))]

    def describe(self) -> str:
        return "own projects with a fault in each; shift is a project that no other split has"

    def _task(self, split: str, number: int, bug: projects.Bug) -> Task:
        targets = list(bug.fail_to_pass)
        data = {
            "files": bug.files,
            "fix": bug.fix,
            "fail_to_pass": targets,
            "pass_to_pass": list(bug.pass_to_pass),
            "visible": [test for test in targets if _defined(test, bug.files)],
        }
        # The bug's own id may name its place; a number says nothing.
        return Task(f"{split}-{number:03d}", bug.statement, bug.difficulty, data)


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
        rows = [self._task(row) for row in self._of_split(split)]
        return _first(rows, self.sizes[split])

    def describe(self) -> str:
        return f"{len(self._rows())} tasks from {self._file.name}"

    @property
    def _file(self) -> Path:
        return self.path / TASKS_FILE if self.path.is_dir() else self.path

    def _rows(self) -> list[dict[str, Any]]:
        try:
            lines = self._file.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise UsageError(
                f"no coding tasks at {self.path}: {error.strerror}",
                hint=f"give a JSONL file, a folder with {TASKS_FILE}, or data='generated'",
            ) from None
        rows = []
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise DataError(f"{self._file}, line {number}: not JSON: {error}") from None
            if not isinstance(row, dict):
                raise DataError(f"{self._file}, line {number}: not an object")
            rows.append(row)
        return rows

    def _of_split(self, split: str) -> list[dict[str, Any]]:
        """In the order of a hash. Repositories kept for shift give tasks to no other split."""
        rows = sorted(self._rows(), key=lambda r: derive_seed("row", self.seed, _id(r)))
        if any("split" in row for row in rows):
            return [row for row in rows if row.get("split") == split]
        origins = sorted(
            {_origin(r) for r in rows}, key=lambda o: derive_seed("repo", self.seed, o)
        )
        kept = set(origins[: len(origins) // 4 or (len(origins) > 1)])
        shift = [row for row in rows if _origin(row) in kept]
        others = [row for row in rows if _origin(row) not in kept]
        third = len(others) // 3
        dealt = {
            "train": others[: len(others) - 2 * third],
            "valid": others[len(others) - 2 * third : len(others) - third],
            "test": others[len(others) - third :],
            "shift": shift,
        }
        return dealt[split]

    def _task(self, row: Mapping[str, Any]) -> Task:
        statement = row.get("problem_statement") or row.get("statement")
        if not isinstance(statement, str):
            raise DataError(f"{self._file}: the task {_id(row)} has no problem_statement")
        data: dict[str, Any] = {
            "fail_to_pass": _tests(row, "fail_to_pass"),
            "pass_to_pass": _tests(row, "pass_to_pass"),
        }
        for key in ("files", "fix", "patch", "test_patch", "visible"):
            if row.get(key):
                data[key] = row[key]
        if "folder" in row:
            data["folder"] = str(self._file.parent / row["folder"])
        elif "files" not in row:
            data["repository"] = str(self._clone(row))
            data["commit"] = str(row.get("base_commit") or row.get("commit") or "")
        name = f"task-{content_id(_id(row))[:12]}"  # ids of issues can tell what the fault is
        return Task(name, statement, str(row.get("difficulty") or _origin(row)), data)

    def _clone(self, row: Mapping[str, Any]) -> Path:
        name = str(row.get("repo") or row.get("repository") or "")
        root = self._file.parent / CLONES_FOLDER
        for folder in (root / name.replace("/", "__"), root / name.rpartition("/")[2]):
            if name and folder.is_dir():
                return folder
        raise DataError(
            f"no clone of {name!r} for the task {_id(row)}",
            hint=f"put it at {root / name.replace('/', '__')}",
        )


def _first(values: Sequence[Any], size: int) -> list[Any]:
    return list(values[:size] if size else values)


def _id(row: Mapping[str, Any]) -> str:
    return str(row.get("instance_id") or row.get("id") or content_id(row))


def _origin(row: Mapping[str, Any]) -> str:
    return str(row.get("repo") or row.get("project") or row.get("folder") or "")


def _tests(row: Mapping[str, Any], key: str) -> list[str]:
    """A list of test ids, which SWE-bench writes as a text that holds JSON."""
    value = row.get(key, row.get(key.upper(), []))
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = None
    if not isinstance(value, list) or not all(isinstance(v, str) and "::" in v for v in value):
        raise DataError(f"the task {_id(row)}: {key} must be a list of path::test")
    return value


def _defined(test: str, files: Mapping[str, str]) -> bool:
    """Whether the agent can see the test in its own tree."""
    path, _, name = test.partition("::")
    try:
        tree = ast.parse(files.get(path, ""))
    except SyntaxError:
        return False
    top = name.partition("::")[0].partition("[")[0]
    return any(getattr(node, "name", "") == top for node in tree.body)


def checked_sizes(**sizes: int) -> Sizes:
    for split in SPLITS:
        if sizes[split] < 0:
            raise UsageError(f"the split {split} cannot have {sizes[split]} tasks")
    return sizes
