"""Trees on their way into a scope: changes of files that hold a secret, or that nobody can look into,
are left out whole, and the tree says that it is not whole.

A change with something taken out of its middle could not be made again; so nothing of it is kept.
"""

import re
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.secrets import redact
from metamem.service.words import Tree
from metamem.service.writing.calls import speaks_of_env
from metamem.service.writing.clean import clean
from metamem.service.writing.fields import PLACE, Fields, moment

MOST = 400_000  # characters of changes
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_FILE = re.compile(r"(?m)^(?=diff --git )")  # where the next file begins
_UNSEEN = re.compile(r"(?m)^(?:Binary files .* differ|GIT binary patch)$")
_SIGN = re.compile(r"(?m)^[-+ ]")


def prepare_tree(tree: Tree) -> dict[str, Any]:
    """A tree as the log holds it."""
    if _COMMIT.fullmatch(tree.commit) is None:
        raise UsageError("a tree needs a commit", hint="all of its letters and digits")
    fields = Fields()
    folder = fields.line(tree.folder, PLACE)
    files = _FILE.split(tree.diff) if len(tree.diff) <= MOST else []
    kept = [each for each in files if each.startswith("diff --git ") and may_be_kept(each)]
    diff = "".join(kept)
    whole = tree.whole and diff == tree.diff and folder == tree.folder
    return {
        "folder": folder,
        "commit": tree.commit,
        "diff": diff,
        "at": moment(tree.at, "at") or 0,
        "whole": whole,
    }


def may_be_kept(change: str) -> bool:
    """Whether one file's change holds no secret, as far as can be seen."""
    names = change.partition("\n@@")[0]
    if _UNSEEN.search(change) or speaks_of_env(names):
        return False
    plain = _SIGN.sub("", change)  # a key of several lines has a sign before each
    return not any(redact(text).kinds for each in (change, plain) for text in {each, clean(each)})
