"""What an agent's tree is worth: target tests that pass, nothing else broken, no cheating.

Only changes to the project's own source count. They are put on a fresh copy of the original tree
together with hidden copies of the tests; everything that could speak for the tests (their files,
configuration, what Python loads by itself, names of standard modules) stays as it was.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from metamem.domains.coding.tree import Files
from metamem.domains.coding.workbench import Workbench

_FIXED_NAMES = {
    "conftest.py",
    "sitecustomize.py",
    "usercustomize.py",
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "pyvenv.cfg",
}
_FIXED_ENDINGS = (".pth", ".so", ".pyc", ".pyd", ".egg-link", ".zip", ".egg")
_RESERVED = {*sys.stdlib_module_names, "pytest", "_pytest", "sitecustomize", "usercustomize"}


def is_test(path: str) -> bool:
    """Whether a path belongs to the tests and not to the project's source."""
    place = PurePosixPath(path)
    return (
        place.name.startswith("test_")
        or place.name.endswith("_test.py")
        or any(part in ("tests", "test", "testing") for part in place.parts[:-1])
    )


def counts(path: str, original: Files) -> bool:
    """Whether a change to this path is part of the answer."""
    place = PurePosixPath(path)
    if is_test(path) or place.name in _FIXED_NAMES or place.name.endswith(_FIXED_ENDINGS):
        return False
    top = place.parts[1] if place.parts[0] == "src" and len(place.parts) > 1 else place.parts[0]
    return path in original or top.removesuffix(".py") not in _RESERVED


def answer_tree(original: Files, agent: Files, hidden: Files) -> dict[str, str]:
    """The tree to test: the original, the agent's changes that count, the hidden tests."""
    fixed = {p: text for p, text in original.items() if p in agent or not counts(p, original)}
    tree = {**fixed, **hidden}
    folders = {str(parent) for path in tree for parent in PurePosixPath(path).parents}
    for path, text in sorted(agent.items()):
        if original.get(path) == text or not counts(path, original) or path in folders:
            continue
        if any(str(parent) in tree for parent in PurePosixPath(path).parents):
            continue  # a file of the original stands where this one needs a folder
        tree[path] = text
    return {**tree, **hidden}


@dataclass(frozen=True, slots=True)
class Score:
    """How the tests went."""

    reward: float
    fixed: tuple[str, ...]  # target tests that pass
    broken: tuple[str, ...]  # other tests that do not pass any more


def score(
    bench: Workbench,
    original: Files,
    agent: Files,
    hidden: Files,
    fail_to_pass: Sequence[str],
    pass_to_pass: Sequence[str],
) -> Score:
    """The share of target tests that pass; nothing where any other test is broken."""
    tree = answer_tree(original, agent, hidden)
    passed = bench.passed(tree, (*fail_to_pass, *pass_to_pass))
    fixed = tuple(test for test in fail_to_pass if test in passed)
    broken = tuple(test for test in pass_to_pass if test not in passed)
    reward = 0.0 if broken else len(fixed) / len(fail_to_pass)
    return Score(reward, fixed, broken)
