"""Which ignore files rule a folder, and what they say of a path in it.

As in git: `.gitignore` in every folder from the top of the repository down, and `.git/info/exclude` of
that repository; another one inside has its own. `.metamemignore` holds in repositories inside, too.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from metamem.knowledge.patterns import FOLDER, Patterns, parsed

_OF_GIT, _OWN = ".gitignore", ".metamemignore"


class Unread(Exception):
    """An ignore file that is there and cannot be read: nobody knows what it hides."""


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    path: str  # from the root
    patterns: Patterns
    below: int = 0  # letters of a path in the root that lead down to its folder
    above: bytes = b""  # the way from its folder down to the root


Rules = tuple[IgnoreFile, ...]  # the outermost first


def ignored(rules: Rules, path: str, *, folder: bool = False) -> bool:
    """What the innermost file that speaks of a path says of it."""
    whole = os.fsencode(path) + (FOLDER if folder else b"")
    for file in reversed(rules):
        said = file.patterns.ignored(file.above + whole[file.below :])
        if said is not None:
            return said
    return False


def above(root: Path) -> Rules:
    """What rules a folder from outside: nothing where no repository is around it."""
    root = root.resolve()
    for top in (root, *root.parents):
        held = _repository(top)
        if held:
            found = [*_read(held / "info" / "exclude", root, top)]
            for each in reversed(root.parents):
                if each.is_relative_to(top):
                    found += _read(each / _OF_GIT, root, each)
                    found += _read(each / _OWN, root, each)
            return tuple(found)
    return ()


def entering(rules: Rules, root: Path, here: str, names: Iterable[str]) -> Rules:
    """The rules of a folder of the root, by those of the folder around it."""
    folder = root / here
    named = set(names)
    held = _repository(folder) if here and ".git" in named else None
    if held:  # what the outer repository says ends here
        rules = tuple(file for file in rules if file.path.endswith(_OWN))
        rules = (*rules, *_read(held / "info" / "exclude", root, folder))
    for name in (_OF_GIT, _OWN):
        if name in named:
            rules = (*rules, *_read(folder / name, root, folder))
    return rules


def _repository(folder: Path) -> Path | None:
    """Where the repository of a folder keeps what all its work trees share, if it is the top of one."""
    place = folder / ".git"
    try:
        if not place.is_dir():
            said = place.read_bytes()[:4096].decode("utf-8", "surrogateescape")
            if not said.startswith("gitdir:"):
                return None
            place = folder / said.removeprefix("gitdir:").strip()
        if not (place / "HEAD").exists():
            return None
        shared = place / "commondir"  # of a work tree
        return place / shared.read_text("utf-8").strip() if shared.is_file() else place
    except (OSError, ValueError):
        return None


def _read(file: Path, root: Path, folder: Path) -> Iterator[IgnoreFile]:
    """An ignore file that rules from `folder` on; nothing where there is none."""
    name = Path(os.path.relpath(file, root)).as_posix()
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            return
        content = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise Unread(f"{name} cannot be read: {error.strerror}") from error
    if folder.is_relative_to(root):
        inside = folder.relative_to(root).as_posix()
        below = 0 if inside == "." else len(os.fsencode(inside)) + 1
        yield IgnoreFile(name, parsed(content), below)
    else:
        way = root.relative_to(folder).as_posix()
        yield IgnoreFile(name, parsed(content), above=os.fsencode(way) + b"/")
