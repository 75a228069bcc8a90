"""From the description in `Task.data` to a project that can be worked on and scored.

{"files": {...}} or {"folder": path} or {"repository": path, "commit": id}; then "test_patch" (a
unified diff that brings the hidden tests), "fail_to_pass", "pass_to_pass", "visible" (target tests
the agent is told of), for the oracle "fix" ({path: content}) or "patch", and for messages "row".
"merged" is told when all is over; "project" and "time" (the order of a project's bugs) are for
experiments that follow one project.
"""

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from metamem.core.errors import DataError
from metamem.domains.coding.scoring import is_test
from metamem.domains.coding.testids import first_unknown
from metamem.domains.coding.tree import Files, clean_path, read_tree, write_tree
from metamem.sandbox.workspace import run_blocking

_GIT_SECONDS = 300.0
_APPLY_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Project:
    """`statement`, `files` and `visible` are for the agent; the rest decides the reward."""

    statement: str
    files: Files
    hidden: Files  # the tests that count: copies the agent never touches
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    visible: tuple[str, ...] = ()
    merged: str = ""  # the change that mended it, told when all is over


def load_project(statement: str, data: Mapping[str, Any]) -> Project:
    files = load_files(data)
    tested = apply_patch(files, data["test_patch"], "test_patch") if "test_patch" in data else files
    hidden = {
        path: text for path, text in tested.items() if is_test(path) or files.get(path) != text
    }
    targets = tuple(data["fail_to_pass"])
    if reason := first_unknown((*targets, *data["pass_to_pass"]), tested):
        raise DataError(reason)
    if not targets:
        raise DataError("a task needs at least one test to be fixed")
    return Project(
        statement,
        files,
        hidden,
        targets,
        tuple(data["pass_to_pass"]),
        tuple(data.get("visible", ())),
        data.get("merged", ""),
    )


def load_files(data: Mapping[str, Any]) -> dict[str, str]:
    """The tree an agent starts from."""
    if "files" in data:
        return {_checked(path): text for path, text in data["files"].items()}
    if "folder" in data:
        folder = Path(data["folder"])
        if not folder.is_dir():
            raise DataError(f"no folder {folder} with the project's files")
        return read_tree(folder)
    if "repository" in data:
        return _commit_files(Path(data["repository"]), data["commit"])
    raise DataError("a task needs files, a folder, or a repository with a commit")


def fixed_files(data: Mapping[str, Any], files: Files) -> dict[str, str]:
    """The solution, for the oracle alone: only files that differ. None where none is known."""
    fixed: Mapping[str, str] = data.get("fix", {})
    if data.get("patch"):
        fixed = apply_patch(files, data["patch"], "patch")
    return {path: text for path, text in fixed.items() if files.get(path) != text}


def apply_patch(files: Files, patch: str, name: str) -> dict[str, str]:
    """A tree with a unified diff applied, exactly or not at all. The diff is parsed in the jail."""
    with tempfile.TemporaryDirectory(prefix="metamem-") as scratch:
        write_tree(files, Path(scratch))
        done = run_blocking(
            ["git", "apply", "--whitespace=nowarn", "-"],
            Path(scratch),
            _APPLY_SECONDS,
            stdin=(patch if patch.endswith("\n") else patch + "\n").encode(),
        )
        if done.exit_code != 0:
            said = " ".join(done.stderr.split())[:300]
            raise DataError(
                f"{name} does not apply: {said}",
                hint="it must be a unified diff (git diff) against the project's files",
            )
        return read_tree(Path(scratch))


def _checked(path: str) -> str:
    try:
        cleaned = clean_path(path)
    except ValueError as error:
        raise DataError(f"a task's file cannot be called so: {error}") from None
    if cleaned != path or not path:
        raise DataError(f"a task's file cannot be called {path!r}")
    return path


def _commit_files(repository: Path, commit: str) -> dict[str, str]:
    """The files of a commit of a local clone, whose work tree and index stay as they are."""
    if not commit or commit.startswith("-"):
        raise DataError(f"{commit!r} is not a commit")
    with tempfile.TemporaryDirectory(prefix="metamem-") as scratch:
        tree = Path(scratch, "tree")
        tree.mkdir()
        _git(repository, scratch, "read-tree", commit)
        _git(repository, scratch, "checkout-index", "--all", f"--prefix={tree}/")
        return read_tree(tree)


def _git(repository: Path, scratch: str, *words: str) -> None:
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": scratch,
        "GIT_INDEX_FILE": f"{scratch}/index",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
    }
    try:
        done = subprocess.run(
            ["git", "-C", str(repository), *words],
            env=environment,
            capture_output=True,
            timeout=_GIT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DataError(f"git could not read {repository}: {error}") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[:300]
        raise DataError(f"git could not read {repository}: {said}")


def changed_lines(before: str, after: str) -> Sequence[tuple[int, list[str], list[str]]]:
    """Where two texts differ: first line, old lines, new lines."""
    old, new = before.splitlines(), after.splitlines()
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [
        (i1 + 1, old[i1:i2], new[j1:j2])
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]
