"""One bug: a project's files with a fault in them, what a user says about it, and the way to tell."""

from dataclasses import dataclass
from typing import Literal

Difficulty = Literal["easy", "medium", "hard"]


@dataclass(frozen=True, slots=True)
class Bug:
    """`files` is what an agent may see; the rest but for `statement` is privileged."""

    id: str
    project: str
    family: str  # the kind of fault
    source: str  # the function of the library that is at fault
    difficulty: Difficulty
    time: int  # when it was found: the project's bugs of all splits in one order
    statement: str  # what a user would write, from the symptom alone
    files: dict[str, str]  # path → content, with the visible tests
    fix: dict[str, str]  # path → repaired content
    fail_to_pass: tuple[str, ...]  # tests/test_x.py::test_name
    pass_to_pass: tuple[str, ...]
