"""The git repository of a scope's deployed tools: a commit for each that comes, changes or goes.

Each scope has its own, so that erasing one leaves nothing of it in the history of another. Commits are made
without git's own work tree or index, and only then are the files put beside it: whatever interrupts that, the
same can be done again, and what is there already is not done twice. Whoever changes anything holds the lock;
whoever reads a program waits for that. What was interrupted between the commit and its files is known by a mark,
and finished by whoever comes next.
"""

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from metamem.core.access import Scope
from metamem.core.errors import StoreError
from metamem.foundry.tools.store import Kept

FOLDER = "tools"  # in that of the memory
BRANCH = "refs/heads/main"
PROGRAM, ABOUT = "program.py", "tool.json"
_LOCK = ".git/held-by-metamem"
_UNFINISHED = (
    ".git/unfinished-by-metamem"  # names the tool whose files may not be those of the commit
)
_WHO = ("-c", "user.name=metamem", "-c", "user.email=metamem@localhost")
_PLAIN = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0",
          "-c", "commit.gpgsign=false")  # fmt: skip
_ZERO = "0" * 40
_LEVELS = 3  # folders between a repository and the memory's


@dataclass(frozen=True, slots=True)
class Change:
    """What a commit does to one tool: its files, or None where it goes; and what the commit says."""

    name: str
    files: Mapping[str, str] | None
    message: str


def folder_of(memory: Path, scope: Scope) -> Path:
    return memory / FOLDER / scope.tenant / scope.kind / scope.name


def files_of(kept: Kept, skill: str) -> dict[str, str]:
    """A tool as it lies in the repository."""
    tool = kept.tool
    about = {
        "name": kept.name,
        "tool": tool.id,
        "title": tool.name,  # with the program, what the id is made of
        "description": tool.description,
        "schema": tool.schema(),
        "workflow": kept.kept_as,
        "writer": tool.writer,
    }
    return {
        PROGRAM: tool.program,
        ABOUT: json.dumps(about, indent=1, sort_keys=True) + "\n",
        "SKILL.md": skill,
    }


class Repository:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock: int | None = (
            None  # held by this process, and by each git that it runs meanwhile
        )

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else changes or reads it until the block ends, or this process does."""
        self._make()
        with self._locked(fcntl.LOCK_EX):
            # A process that was killed may have left its marks; nobody else can be at work now.
            for stale in (
                *self.folder.glob(".git/refs/heads/*.lock"),
                *self.folder.glob(".git/*.lock"),
            ):
                stale.unlink(missing_ok=True)
            if self.unfinished():
                name = (self.folder / _UNFINISHED).read_text(encoding="utf-8")
                self._put(Change(name, self.committed(name), ""))
            yield

    def unfinished(self) -> bool:
        """Whether somebody was stopped between a commit and its files; `alone` finishes it."""
        return (self.folder / _UNFINISHED).exists()

    def head(self) -> str:
        """The newest commit; empty where there is none."""
        if not self._whole() and not (self.folder / ".git" / BRANCH).exists():
            return ""  # whoever was making it was stopped; `alone` makes it whole
        # Git says 1 where there is none. Any other failure is one, and must not look like that.
        return self._git("rev-parse", "--verify", "--quiet", BRANCH, fine=(0, 1)).strip()

    def committed(self, name: str) -> dict[str, str] | None:
        """The files of a tool as the newest commit has them; None where it has none."""
        if not self.head():
            return None
        listed = self._git("ls-tree", "-z", "--name-only", BRANCH, f"{name}/")
        paths = [path for path in listed.split("\0") if path]
        return {
            path.rpartition("/")[2]: self._git("show", f"{BRANCH}:{path}") for path in paths
        } or None

    def names(self) -> list[str]:
        """The tools that the newest commit has."""
        if not self.head():
            return []
        return [n for n in self._git("ls-tree", "-dz", "--name-only", BRANCH).split("\0") if n]

    def last_change(self, name: str) -> str:
        """The commit that last changed a tool."""
        return self._git("log", "-1", "--format=%H", BRANCH, "--", name).strip()

    def commit(self, change: Change) -> str:
        """Enter a change, unless it is there already; the commit that holds it. Only inside `alone`."""
        if self.committed(change.name) == change.files:
            self._put(change)
            return self.last_change(change.name) if self.head() else ""
        before = self.head()
        with tempfile.TemporaryDirectory(prefix="metamem-") as own:
            at = {"GIT_INDEX_FILE": str(Path(own) / "index")}
            if before:
                self._git("read-tree", BRANCH, environment=at)
            self._git(
                "rm", "-rq", "--cached", "--ignore-unmatch", "--", change.name, environment=at
            )
            for name, text in (change.files or {}).items():
                blob = self._git("hash-object", "-w", "--stdin", stdin=text).strip()
                entry = f"100644,{blob},{change.name}/{name}"
                self._git("update-index", "--add", "--cacheinfo", entry, environment=at)
            tree = self._git("write-tree", environment=at).strip()
        parents = ("-p", before) if before else ()
        made = self._git("commit-tree", tree, *parents, stdin=change.message).strip()
        _write(self.folder / _UNFINISHED, change.name)
        self._git(
            "update-ref", "-m", change.message.partition("\n")[0], BRANCH, made, before or _ZERO
        )
        self._put(change)
        return made

    def program(self, name: str) -> str | None:
        """A program as it lies there now, whoever wrote it; None where there is none."""
        try:
            with self._locked(fcntl.LOCK_SH):
                return (self.folder / name / PROGRAM).read_bytes().decode(errors="surrogateescape")
        except OSError:
            return None

    def _put(self, change: Change) -> None:
        """The files beside the commit, for people to look at and for tools to be run from."""
        place = self.folder / change.name
        if place.is_symlink() or place.is_file():
            place.unlink()
        if change.files is None:
            shutil.rmtree(place, ignore_errors=True)
        else:
            place.mkdir(exist_ok=True, mode=0o700)
            for stray in place.iterdir():
                if stray.name not in change.files:
                    shutil.rmtree(stray) if stray.is_dir() else stray.unlink()
            for name, text in change.files.items():
                _write(place / name, text)
        if self.head():
            self._git("read-tree", BRANCH)
        (self.folder / _UNFINISHED).unlink(missing_ok=True)

    def _make(self) -> None:
        self._make_private()
        if self._whole():
            return
        inside = self.folder / ".git"
        inside.mkdir(exist_ok=True, mode=0o700)
        with self._locked(fcntl.LOCK_EX):
            self._git("init", "-q", "--template=", "--initial-branch=main")

    def _whole(self) -> bool:
        inside = self.folder / ".git"
        return all((inside / part).exists() for part in ("HEAD", "config", "objects", "refs"))

    def _make_private(self) -> None:
        """Its owner's alone, with the folders above it up to that of all tools: names of projects are there."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for each in (*self.folder.parents[:_LEVELS], self.folder):
            each.chmod(0o700)

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        descriptor = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, how)
            if how == fcntl.LOCK_EX:
                self._lock = descriptor
            yield
        finally:
            if how == fcntl.LOCK_EX:
                self._lock = None
            os.close(descriptor)  # also unlocks

    def _git(
        self,
        *words: str,
        stdin: str = "",
        environment: Mapping[str, str] | None = None,
        fine: Collection[int] = (0,),
    ) -> str:
        given = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        given |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "LC_ALL": "C"}
        # Where it is, is said: git must not look for a repository in the folders above.
        given["GIT_DIR"] = str(self.folder / ".git")
        try:
            done = subprocess.run(
                ["git", *_PLAIN, *_WHO, *words],
                cwd=self.folder,
                umask=0o077,
                env=given | dict(environment or {}),
                input=stdin.encode(errors="surrogateescape"),
                capture_output=True,
                check=False,
                # A git that outlives its killed parent keeps the lock until it has ended.
                pass_fds=() if self._lock is None else (self._lock,),
            )
        except OSError as error:
            raise StoreError(f"git cannot be run: {error.strerror}", hint="install git") from None
        if done.returncode not in fine:
            said = (
                done.stderr.decode(errors="replace").strip() or f"git ended with {done.returncode}"
            )
            raise StoreError(f"the repository of tools in {self.folder} fails: {said}")
        return done.stdout.decode(errors="surrogateescape")


def _write(path: Path, text: str) -> None:
    """The whole file or none of it."""
    part = path.with_name(f".{path.name}.part")
    part.touch(mode=0o600)
    part.write_text(text, encoding="utf-8", errors="surrogateescape")
    part.chmod(0o600)
    part.replace(path)


def removed(folder: Path) -> bool:
    """Take a whole repository away, with its history."""
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)
        return True
    return False
