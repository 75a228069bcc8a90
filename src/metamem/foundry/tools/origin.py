"""A repository as it was when a session began, as far as git remembers; read and never changed.

A snapshot says which commit was checked out. Where the branches stood is in git's own log of its references;
a branch that is younger than the snapshot is left out. Tags have no log: those whose commit was not there
yet, and those that were made later, are left out.
"""

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from metamem.core.git import GitFailed, ask_git
from metamem.foundry.words import Snapshot

SECONDS = 20.0  # for all that is asked
_MOST_REFS = 2_000
_DEEP = 5  # repositories that borrow from others, which borrow
_MOVED = re.compile(r"checkout: moving from (\S+) to (\S+)")
# Settings that say how files are written; all others may name programs, or are nobody's business here.
_PLAIN = ("autocrlf", "eol", "filemode", "symlinks", "quotepath")
_ASKED = r"^(user\.(name|email)|core\.(autocrlf|eol|filemode|symlinks|quotepath|sparsecheckout))$"


class NotReplayable(Exception):
    """A case cannot be replayed, and why. `lasting` where that will be so tomorrow, too."""

    def __init__(self, why: str, *, lasting: bool = True) -> None:
        super().__init__(why)
        self.lasting = lasting


@dataclass(frozen=True, slots=True)
class Origin:
    root: Path  # of the work tree
    within: str  # where in it the session was at work
    seen: str  # the name of the root, as the session knew it
    format: str  # of its ids
    objects: tuple[Path, ...]  # where they are kept; the first is the repository's own
    shallow: str  # where its history ends, if it was cut off
    refs: Mapping[str, str]
    head: str  # the branch that was checked out; empty where there was none
    commit: str
    core: Mapping[str, str]  # settings of that name
    identity: Mapping[str, str]  # name and email of who commits, where somebody said so


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line of the log of references."""

    ref: str
    at: int
    value: str
    said: str


def origin(snapshot: Snapshot) -> Origin:
    """The repository of a snapshot; `NotReplayable` where it is not there any more, or not as it was."""
    folder, until = Path(snapshot.folder), time.monotonic() + SECONDS
    try:
        asked = ("rev-parse", "--show-toplevel", "--git-common-dir", "--show-object-format")
        top, shared, format_ = _lines(ask_git(folder, asked, until))
        root, common = Path(top), (folder / shared).resolve()
        within = folder.resolve().relative_to(root.resolve())
        ask_git(folder, ("cat-file", "-e", f"{snapshot.commit}^{{commit}}"), until)
        settings = _settings(folder, until)
        log = list(_log(folder, until))
        listed = list(_refs(folder, until))
    except (GitFailed, ValueError, OSError) as error:
        raise NotReplayable(
            f"the repository of {snapshot.folder} is not there any more, or has lost the commit",
            lasting=False,
        ) from error
    if settings.get("core.sparsecheckout") == "true":
        raise NotReplayable("only a part of the tree was checked out")
    seconds = snapshot.at // 1000 if snapshot.at else int(time.time())
    refs = _then(listed, log, seconds, common)
    head = _head(folder, refs, log, seconds, snapshot.commit, until)
    if not any(name == f"refs/heads/{head}" for name, _, _ in listed):
        head = ""  # a tag or a commit was checked out, or a branch that is gone
    if head:
        refs[f"refs/heads/{head}"] = snapshot.commit
    seen = folder
    for _ in within.parts:
        seen = seen.parent
    return Origin(
        root=root,
        within=str(within),
        seen=str(seen),
        format=format_,
        objects=tuple(_objects(common / "objects")),
        shallow=_text(common / "shallow"),
        refs=_reachable_tags(folder, refs, snapshot.commit, until),
        head=head,
        commit=snapshot.commit,
        core={
            name: settings[f"core.{name}"]
            for name in _PLAIN
            if re.fullmatch(r"[a-z]+", settings.get(f"core.{name}", ""))
        },
        identity=_identity(settings),
    )


def _lines(said: bytes) -> list[str]:
    return os.fsdecode(said).splitlines()


def _settings(folder: Path, until: float) -> dict[str, str]:
    try:
        said = ask_git(folder, ("config", "-z", "--get-regexp", _ASKED), until)
    except GitFailed:
        return {}  # none of them is set
    pairs = (entry.partition("\n") for entry in os.fsdecode(said).split("\0") if entry)
    return {name.lower(): value for name, _, value in pairs}


def _identity(settings: Mapping[str, str]) -> dict[str, str]:
    found = {name: settings.get(f"user.{name}", "") for name in ("name", "email")}
    plain = all(value and value.isprintable() for value in found.values())
    return found if plain else {}


def _log(folder: Path, until: float) -> Iterator[_Entry]:
    """The newest first, for each reference."""
    words = ("reflog", "show", "--all", "--date=unix", "--format=%gD%x00%H%x00%gs")
    try:
        said = ask_git(folder, words, until)
    except GitFailed:
        return  # there is none
    for line in _lines(said):
        place, value, what = [*line.split("\0"), "", ""][:3]
        found = re.fullmatch(r"(.+)@\{(\d+)\}", place)
        if found:
            yield _Entry(found[1], int(found[2]), value, what)


def _refs(folder: Path, until: float) -> Iterator[tuple[str, str, int]]:
    """References as they are now, and when a tag was made that says so."""
    form = "--format=%(refname)%00%(objectname)%00%(taggerdate:unix)%00%(symref)"
    words = ("for-each-ref", form, "refs/heads", "refs/tags", "refs/remotes")
    for line in _lines(ask_git(folder, words, until))[:_MOST_REFS]:
        name, value, made, link = [*line.split("\0"), "", "", ""][:4]
        if not link:
            yield name, value, int(made or 0)


def _then(
    listed: Sequence[tuple[str, str, int]], log: Sequence[_Entry], at: int, common: Path
) -> dict[str, str]:
    """Where references stood at a moment, in seconds since 1970."""
    logged: dict[str, list[_Entry]] = {}
    for entry in log:
        logged.setdefault(entry.ref, []).append(entry)
    found = {}
    for name, value, made in listed:
        if name in logged:
            before = next((entry for entry in logged[name] if entry.at <= at), None)
            if before is not None:
                found[name] = before.value
        elif name.startswith("refs/tags/"):
            if (made or _changed(common / name)) <= at:
                found[name] = value
        else:
            found[name] = value
    return found


def _changed(path: Path) -> int:
    """When a file was written; long ago where there is none: the tag lies packed among others."""
    try:
        return int(path.stat().st_mtime)
    except OSError:
        return 0


def _head(
    folder: Path,
    refs: Mapping[str, str],
    log: Sequence[_Entry],
    at: int,
    commit: str,
    until: float,
) -> str:
    """The branch that was checked out: by the log, or one that stood at the commit."""
    moves = [(e.at, m) for e in log if e.ref == "HEAD" and (m := _MOVED.match(e.said))]
    earlier = next((m[2] for moment, m in moves if moment <= at), "")
    later = next((m[1] for moment, m in reversed(moves) if moment > at), "")
    try:
        now = _lines(ask_git(folder, ("symbolic-ref", "-q", "--short", "HEAD"), until))[0]
    except (GitFailed, IndexError):
        now = ""
    standing = (name[11:] for name, value in refs.items() if value == commit)
    return earlier or later or now or next(standing, "")


def _reachable_tags(
    folder: Path, refs: Mapping[str, str], commit: str, until: float
) -> dict[str, str]:
    """References without tags on commits that were made later."""
    branches = {name: value for name, value in refs.items() if not name.startswith("refs/tags/")}
    tags = {name: value for name, value in refs.items() if name not in branches}
    if not tags:
        return branches
    merged = [f"--merged={value}" for value in {commit, *branches.values()}]
    words = ("for-each-ref", "--format=%(refname)", *merged[:200], "refs/tags")
    try:
        kept = set(_lines(ask_git(folder, words, until)))
    except GitFailed:
        return branches
    return {**branches, **{name: value for name, value in tags.items() if name in kept}}


def _objects(folder: Path, deep: int = _DEEP) -> Iterator[Path]:
    """Where objects are, those of repositories from which this one borrows included."""
    if not folder.is_dir() or not deep:
        return
    yield folder
    for line in _text(folder / "info/alternates").splitlines():
        if line and not line.startswith("#"):
            yield from _objects((folder / line).resolve(), deep - 1)


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, ValueError):
        return ""
