"""Rows of a JSONL file of coding tasks: one format, checked row by row (docs/coding.md).

SWE-bench's names for the same things are taken too. What a row should not hold is refused with
its line: a key that is misspelt would otherwise be a test or a fix that never counts.
"""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metamem.core.errors import DataError
from metamem.core.types import SPLITS
from metamem.domains.coding.testids import first_unknown

CLONES_FOLDER = "repos"
_SWEBENCH = {
    "instance_id": "id",
    "problem_statement": "issue",
    "base_commit": "commit",
    "FAIL_TO_PASS": "fail_to_pass",
    "PASS_TO_PASS": "pass_to_pass",
}
_UNUSED = {"hints_text", "created_at", "version", "environment_setup_commit"}  # SWE-bench's
_TEXTS = ("id", "issue", "split", "project", "difficulty", "folder", "repo", "commit", "patch",
          "test_patch")  # fmt: skip
_TEST_LISTS = ("fail_to_pass", "pass_to_pass", "visible")
_FILE_MAPS = ("files", "fix")
KEYS = (*_TEXTS, *_TEST_LISTS, *_FILE_MAPS)
_FORMS = {
    **dict.fromkeys(_TEXTS, "a text"),
    **dict.fromkeys(_TEST_LISTS, "a list of path::test"),
    **dict.fromkeys(_FILE_MAPS, "an object of path: whole text of the file"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """A checked row. `data` is for `Task.data`."""

    id: str
    issue: str
    split: str  # empty where the row names none
    origin: str  # rows of one origin go to shift together
    difficulty: str
    data: Mapping[str, Any]


def read_rows(file: Path) -> list[Row]:
    """Every row of a file; the first that is wrong is refused with its line."""
    rows: list[Row] = []
    lines: dict[str, int] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        place = f"{file.name}, line {number}"
        row = _row(_keys(_object(line, place), place), place, file.parent)
        if row.id in lines:
            raise DataError(f"{place}: the id {row.id!r} is also on line {lines[row.id]}")
        if rows and bool(row.split) != bool(rows[0].split):
            raise DataError(
                f"{place}: {'a' if row.split else 'no'} split is named, other than in the rows above",
                hint="name the split in every row, or in none: then the rows are dealt",
            )
        lines[row.id] = number
        rows.append(row)
    return rows


def _object(line: str, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise DataError(f"{place}: not JSON: {error}") from None
    if not isinstance(row, dict):
        raise DataError(f"{place}: not an object")
    return row


def _keys(row: Mapping[str, Any], place: str) -> dict[str, Any]:
    """The row under the names of its own format; empty values are as good as none."""
    found: dict[str, Any] = {}
    for key, value in row.items():
        name = _SWEBENCH.get(key, key)
        if key in _UNUSED or value in (None, "", [], {}):
            continue
        if name not in KEYS:
            close = difflib.get_close_matches(key, (*KEYS, *_SWEBENCH), n=1)
            guess = f"did you mean {close[0]!r}? " if close else ""
            raise DataError(
                f"{place}: unknown key {key!r}", hint=f"{guess}known: {', '.join(KEYS)}"
            )
        if name in found:
            raise DataError(f"{place}: {key!r} says the same as another key of the row")
        found[name] = _tests(value) if name in _TEST_LISTS else value
        if not _well_formed(name, found[name]):
            raise DataError(f"{place}: {key} must be {_FORMS[name]}")
    return found


def _tests(value: Any) -> Any:
    """SWE-bench writes a list of tests as a text that holds JSON."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return None


def _well_formed(name: str, value: Any) -> bool:
    if name in _TEXTS:
        return isinstance(value, str)
    if name in _TEST_LISTS:
        return isinstance(value, list) and all(isinstance(v, str) and "::" in v for v in value)
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _row(given: Mapping[str, Any], place: str, folder: Path) -> Row:
    for key in ("id", "issue", "fail_to_pass"):
        if key not in given:
            names = [key, *(theirs for theirs, ours in _SWEBENCH.items() if ours == key)]
            raise DataError(f"{place}: {' or '.join(names)} is missing; it must be {_FORMS[key]}")
    place = f"{place}, task {given['id']}"
    split = given.get("split", "")
    if split and split not in SPLITS:
        raise DataError(f"{place}: no split called {split!r}", hint=f"known: {', '.join(SPLITS)}")
    for keys in (("files", "folder", "repo"), ("fix", "patch")):
        if len(both := [key for key in keys if key in given]) > 1:
            raise DataError(f"{place}: one of {' and '.join(both)} is enough")
    tests = {key: list(given.get(key, ())) for key in _TEST_LISTS}
    if strange := set(tests["visible"]).difference(tests["fail_to_pass"]):
        raise DataError(f"{place}: {min(strange)} is visible, but not in fail_to_pass")
    data = {"row": place, **tests, **_tree(given, place, folder)}
    data |= {key: given[key] for key in ("fix", "patch", "test_patch") if key in given}
    if "test_patch" not in given:  # with one, its tests are looked up when the project is loaded
        _check_tests(data, place)
    return Row(
        given["id"],
        given["issue"],
        split,
        origin=given.get("repo") or given.get("project") or given.get("folder") or "",
        difficulty=given.get("difficulty", ""),
        data=data,
    )


def _tree(given: Mapping[str, Any], place: str, folder: Path) -> dict[str, Any]:
    """Where the project's files are."""
    if "files" in given:
        return {"files": given["files"]}
    if "folder" in given:
        if not (folder / given["folder"]).is_dir():
            raise DataError(f"{place}: there is no folder {folder / given['folder']}")
        return {"folder": str(folder / given["folder"])}
    if "repo" not in given:
        raise DataError(f"{place}: files, a folder, or a repo with a commit is missing")
    name = given["repo"]
    clones = folder / CLONES_FOLDER
    for clone in (clones / name.replace("/", "__"), clones / name.rpartition("/")[2]):
        if clone.is_dir():
            return {"repository": str(clone), "commit": given.get("commit", "")}
    raise DataError(
        f"{place}: no clone of {name!r}", hint=f"put it at {clones / name.replace('/', '__')}"
    )


def _check_tests(data: Mapping[str, Any], place: str) -> None:
    tests: Sequence[str] = [*data["fail_to_pass"], *data["pass_to_pass"]]
    if "files" in data:
        files = data["files"]
    elif "folder" in data:
        paths = {test.partition("::")[0] for test in tests}
        found = {path: Path(data["folder"], path) for path in paths}
        files = {
            path: file.read_text(encoding="utf-8", errors="replace")
            for path, file in found.items()
            if file.is_file()
        }
    else:
        return  # the commit is read when the project is loaded
    if reason := first_unknown(tests, files):
        raise DataError(f"{place}: {reason}")
