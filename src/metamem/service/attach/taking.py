"""The files in a folder, told by git: which commit, and what was changed since.

Nothing in the folder is changed: names of new files go to an index of our own that is thrown away.
What git ignores is not looked at, nor is what lies in other repositories inside this one.
"""

import os
import shutil
import tempfile
import time
from functools import partial
from pathlib import Path

from metamem.core.git import GitFailed, ask_git
from metamem.service.database import now_ms
from metamem.service.words import Tree
from metamem.service.writing.trees import MOST

_BYTES = 4 * MOST  # of what git says: no character has more than four
SECONDS = 20.0  # for all of it; a tree that takes longer is not whole
_git = partial(ask_git, most=_BYTES)
_DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--full-index",
         "--src-prefix=a/", "--dst-prefix=b/", "HEAD", "--")  # fmt: skip


def take(folder: str) -> Tree | None:
    """The tree of a folder; None where it is not in a repository, or nothing was committed there."""
    at, until = now_ms(), time.monotonic() + SECONDS
    try:
        asked = ("rev-parse", "--show-toplevel", "--absolute-git-dir", "HEAD")
        root, inside, commit = _git(folder, asked, until).decode("utf-8").splitlines()
    except (GitFailed, ValueError):
        return None
    try:
        diff = _changed(Path(root), Path(inside), until)
    except (GitFailed, UnicodeDecodeError, OSError):
        return Tree(folder, commit, "", at, whole=False)
    whole = len(diff) <= MOST and not (Path(root) / ".gitmodules").exists()
    return Tree(folder, commit, diff if len(diff) <= MOST else "", at, whole)


def _changed(root: Path, inside: Path, until: float) -> str:
    with tempfile.TemporaryDirectory(prefix="metamem-") as own:
        index, shared = Path(own) / "index", _git(root, ("rev-parse", "--git-common-dir"), until)
        objects = (root / os.fsdecode(shared).rstrip("\n")).resolve() / "objects"
        environment = {
            "GIT_INDEX_FILE": str(index),
            # Git writes an empty object for new names; that, too, goes to a place of our own.
            "GIT_OBJECT_DIRECTORY": own,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects),
        }
        if (inside / "index").exists():
            shutil.copyfile(inside / "index", index)
        else:
            _git(root, ("read-tree", "HEAD"), until, environment)
        _git(root, ("add", "--intent-to-add", "--all", "."), until, environment)
        return _git(root, _DIFF, until, environment).decode("utf-8")
