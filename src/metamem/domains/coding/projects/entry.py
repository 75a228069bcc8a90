"""The catalogue's entries: what is stored of a bug, and how a bug is made of it again."""

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from metamem.core.errors import DataError
from metamem.core.ids import content_id
from metamem.domains.coding.projects.bug import Bug, Difficulty
from metamem.domains.coding.projects.tree import clean_tree, is_test

CATALOGUE = Path(__file__).with_name("catalogue.jsonl")


@dataclass(frozen=True, slots=True)
class Entry:
    """A fault that was tried: whole clean lines, what stands there instead, and what then fails."""

    project: str
    family: str
    difficulty: Difficulty
    path: str
    line: int
    clean: str
    faulty: str
    statement: str
    fails: tuple[str, ...]
    written: bool = False  # by hand

    @property
    def id(self) -> str:
        return f"{self.project}-{content_id(self.path, self.line, self.clean, self.faulty)[:10]}"

    @property
    def lines(self) -> range:
        return range(self.line, self.line + self.clean.count("\n"))

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @staticmethod
    def from_json(text: str) -> "Entry":
        data = json.loads(text)
        return Entry(**{**data, "fails": tuple(data["fails"])})


def faulty_text(clean: str, line: int, old: str, new: str) -> str:
    """A module's text with the fault in it."""
    lines = clean.splitlines(keepends=True)
    start = len("".join(lines[: line - 1]))
    if clean[start : start + len(old)] != old:
        raise DataError(
            f"the catalogue does not fit the sources at line {line}",
            hint="make it anew: python -m metamem.domains.coding.projects.validate",
        )
    return clean[:start] + new + clean[start + len(old) :]


def as_bug(entry: Entry) -> Bug:
    files = clean_tree(entry.project)
    fixed = files[entry.path]
    files[entry.path] = faulty_text(fixed, entry.line, entry.clean, entry.faulty)
    passes = tuple(test for test in tests_of(entry.project) if test not in entry.fails)
    return Bug(
        id=entry.id,
        project=entry.project,
        family=entry.family,
        difficulty=entry.difficulty,
        statement=entry.statement,
        files=files,
        fix={entry.path: fixed},
        fail_to_pass=entry.fails,
        pass_to_pass=passes,
    )


@cache
def tests_of(project: str) -> tuple[str, ...]:
    """The ids of a project's tests, in order."""
    return tuple(
        f"{path}::{line.removeprefix('def ').partition('(')[0]}"
        for path, text in sorted(clean_tree(project).items())
        if is_test(path)
        for line in text.splitlines()
        if line.startswith("def test_")
    )


@cache
def entries() -> tuple[Entry, ...]:
    return tuple(map(Entry.from_json, CATALOGUE.read_text(encoding="utf-8").splitlines()))
