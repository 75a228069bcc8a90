"""What a case left behind in a tree, and where two of them differ. Effects are compared, never words.

Of files the content, the mode and where links lead; of git the index, branches, tags, HEAD, and commits by
their tree, message, people and parents. Times, the ids of new commits, git's own logs and caches are left
out: they differ from one time to the next by nature. All else that lies in `.git` (settings, hooks) must be
equal to the byte.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from metamem.sandbox.tree import Entry, manifest

_CACHES = re.compile(r"(^|/)(__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache)(/|$)|\.pyc$")
# Read by git itself (`stage.look`), or of no account.
_READ_BY_GIT = re.compile(
    r"\.git/(objects(?!/info/alternates$)|logs|refs|packed-refs|HEAD|[A-Z_]+_HEAD|index|COMMIT_EDITMSG|"
    r"AUTO_MERGE|gc\.log|gc\.pid)(/|$)"
)
_FOLDERS = {".git", ".git/objects", ".git/objects/info"}
_TOLD = 60  # characters of a name


@dataclass(frozen=True, slots=True)
class Effects:
    files: Mapping[str, Entry]  # by path, folders included
    settings: Mapping[str, Entry]  # what lies in .git and is no history
    git: Mapping[str, Any] = field(default_factory=dict)  # as `stage.look` tells it


def read_files(tree: Path, most_bytes: int, most_files: int) -> Effects:
    """What lies in a tree, without asking git; `DataError` where it is too much to be read."""
    found = manifest(tree, most_bytes=most_bytes, most_entries=most_files)
    files: dict[str, Entry] = {}
    settings: dict[str, Entry] = {}
    for path, entry in found.items():
        if path == ".git" or path.startswith(".git/"):
            if not _READ_BY_GIT.match(path) and path not in _FOLDERS:
                settings[path] = entry
        elif not _CACHES.search(path):
            files[path] = entry
    return Effects(files, settings)


def files_differ(one: Effects, other: Effects, *, settings_alone: bool = False) -> str:
    """The first difference, in words; empty where there is none."""
    for what, a, b in (
        ("in what git is set to: ", one.settings, other.settings),
        *((("", one.files, other.files),) if not settings_alone else ()),
    ):
        for path in sorted(a.keys() | b.keys()):
            if a.get(path) != b.get(path):
                return f"{what}{_name(path)} {_how(a.get(path), b.get(path))}"
    return ""


def differ(one: Effects, other: Effects) -> str:
    """The first difference between what was recorded and another, in words; empty where they are equal."""
    found = files_differ(one, other)
    if found:
        return found
    for what, told in (
        ("head", "another branch is checked out"),
        ("index", "the index differs"),
        ("stash", "what was stashed differs"),
        ("pointers", "something is left half done in git"),
    ):
        if one.git.get(what) != other.git.get(what):
            return told
    a, b = (_refs(effects) for effects in (one, other))
    for name in sorted(a.keys() | b.keys()):
        if a.get(name) != b.get(name):
            short = name.removeprefix("refs/").removeprefix("heads/")
            missing = "is missing" if name not in b else "should not be there"
            return f"{_name(short)} {missing if name not in a or name not in b else 'differs'}"
    return ""


def _refs(effects: Effects) -> dict[str, Any]:
    return {"HEAD": effects.git.get("commit"), **effects.git.get("refs", {})}


def unlike(one: Effects, other: Effects) -> list[str]:
    """Files whose content differs, and nothing else about them."""
    return [
        path
        for path, entry in one.files.items()
        if path in other.files
        and entry != other.files[path]
        and replace(entry, sha256="") == replace(other.files[path], sha256="")
    ]


def without_content(effects: Effects, paths: set[str]) -> Effects:
    """With some files of which it only counts that they are there."""
    files = {p: replace(e, sha256="") if p in paths else e for p, e in effects.files.items()}
    return replace(effects, files=files)


def _how(recorded: Entry | None, now: Entry | None) -> str:
    if now is None:
        return "is missing"
    if recorded is None:
        return "should not be there"
    if recorded.kind != now.kind:
        return f"is a {now.kind} and no {recorded.kind}"
    if recorded.mode != now.mode:
        return f"may be used otherwise ({now.mode:o}, recorded {recorded.mode:o})"
    return "differs"


def _name(path: str) -> str:
    seen = "".join(sign if sign.isprintable() else "?" for sign in path)
    return seen if len(seen) <= _TOLD else f"…{seen[-_TOLD:]}"
