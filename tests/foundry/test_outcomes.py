"""The ladder of outcomes, sign by sign."""

import pytest

from metamem.foundry.correcting import corrects
from metamem.foundry.outcomes import outcome
from metamem.foundry.words import Use
from tests.foundry.corrections import (
    CORRECTING,
    HELD_OUT_CORRECTING,
    HELD_OUT_OTHER,
    OTHER,
)


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
    ("prompts", "corrections", "least", "most"),
    [
        pytest.param(CORRECTING, True, 0.95, 1.0, id="corrections"),
        pytest.param(OTHER, False, 0.0, 0.03, id="others"),
        pytest.param(HELD_OUT_CORRECTING, True, 0.3, 1.0, id="held-out corrections"),
        pytest.param(HELD_OUT_OTHER, False, 0.0, 0.06, id="held-out others"),
    ],
)
def test_corrections(prompts: list[str], corrections: bool, least: float, most: float) -> None:
    """Few others are taken for a correction; of corrections as they come a third is found."""
    found = [said for said in prompts if corrects(said)]
    wrong = [said for said in prompts if (said in found) is not corrections]
    assert least <= len(found) / len(prompts) <= most, wrong


def test_there_are_enough_to_tell() -> None:
    assert min(map(len, (CORRECTING, OTHER))) >= 60
    assert min(map(len, (HELD_OUT_CORRECTING, HELD_OUT_OTHER))) >= 40
    held_out = {*HELD_OUT_CORRECTING, *HELD_OUT_OTHER}
    assert not held_out & {*CORRECTING, *OTHER}


def test_only_how_a_prompt_begins_counts() -> None:
    """A long task that speaks of errors somewhere is no correction."""
    assert not corrects(
        "Write the parser. Take the grammar of the page. It does not work without one."
    )
    assert corrects("Thanks. It still does not work.")
    assert not corrects("")
