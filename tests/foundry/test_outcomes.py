"""The ladder of outcomes, sign by sign."""

import pytest

from metamem.foundry.outcomes import corrects, outcome
from metamem.foundry.words import Use


def ran(command: str, code: int | None = 0, prompt: str = "p1", agent: str = "") -> Use:
    return Use(command, "bash", {"command": command}, exit_code=code, prompt=prompt, agent=agent)


CASES = {
    "nothing": ([], {}, ("unknown", None)),
    "nobody says": ([ran("ls", None)], {}, ("unknown", None)),
    "tests failed, then passed": ([ran("pytest -q", 1), ran("pytest -q")], {}, ("tests", True)),
    "tests passed, then failed": ([ran("make test"), ran("make test", 2)], {}, ("tests", False)),
    "tests behind a folder": ([ran("cd a && npm test", 1), ran("ls")], {}, ("tests", False)),
    "words of a command are no tests": ([ran("ls latest", 0)], {}, ("exit", True)),
    "a commit": ([ran("git commit -m x"), ran("ls missing", 2)], {}, ("commit", True)),
    "a commit undone": (
        [ran("git commit -m x"), ran("git reset --hard HEAD~1")],
        {},
        ("commit", False),
    ),
    "a commit that failed": ([ran("git commit -m x", 1)], {}, ("exit", False)),
    "a correction": (
        [ran("sed -i s/a/b/ x")],
        {"p1": "Rename a", "p2": "No, that is the wrong file"},
        ("correction", False),
    ),
    "a correction that was worked on": (
        [ran("sed x"), ran("sed y", prompt="p2")],
        {"p1": "Rename a", "p2": "No, the other one"},
        ("exit", True),
    ),
    "tests passed and the user is not content": (
        [ran("cargo test")],
        {"p1": "Fix it", "p2": "It still fails for me"},
        ("correction", False),
    ),
    "of a sub-agent": ([ran("pytest", 1, agent="a")], {}, ("unknown", None)),
}


@pytest.mark.parametrize(("uses", "prompts", "expected"), CASES.values(), ids=CASES)
def test_ladder(
    uses: list[Use], prompts: dict[str, str], expected: tuple[str, bool | None]
) -> None:
    found = outcome(uses, prompts)
    assert (found.by, found.success) == expected
    assert (found.confidence > 0) is (found.by != "unknown")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("No, use tabs", True),
        ("that's not what I wanted", True),
        ("You forgot the tests", True),
        ("no problem, now add a page", False),
        ("Now add a page", False),
        ("Nothing else, thanks", False),
        ("Notes are missing a date", False),
    ],
)
def test_corrections(said: str, expected: bool) -> None:
    assert corrects(said) is expected
