"""The clean sources of the projects, as they ship beside this module.

They are data: their names end in `.txt`, so that no tool takes them for code of metamem's.
"""

from collections.abc import Iterator
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

PROJECTS = ("mathlib", "textlib", "containers", "taskboard", "webtools", "datelib")
UNSEEN = "ledger"  # the project that only the shift split knows
RELEASE = "1.0"
SUFFIX = ".txt"


@cache
def _read(project: str) -> tuple[tuple[str, str], ...]:
    root = resources.files(__package__).joinpath("sources", f"{project}-{RELEASE}")
    return tuple(_files(root))


def _files(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Path → content of what is below a folder, in the order of names."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name.removesuffix(SUFFIX)):
        if entry.is_dir():
            yield from _files(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(SUFFIX):
            yield f"{prefix}{entry.name.removesuffix(SUFFIX)}", entry.read_text(encoding="utf-8")


def clean_tree(project: str) -> dict[str, str]:
    """Path → content of a project without faults, tests included."""
    return dict(_read(project))


def is_test(path: str) -> bool:
    return path.startswith("tests/")
