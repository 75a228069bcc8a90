"""Calls of tools that are no shells: the same intent with an argument put right, and everything else."""

import pytest

from metamem.foundry.failures.intent import same_intent
from metamem.foundry.failures.linking import Resolved, Unresolved, link
from metamem.foundry.words import Trace, Use
from tests.foundry.failures.pairs import OTHER, SAME, Pair


def uses(pair: Pair) -> tuple[Use, Use]:
    tool, error, before, after = pair
    return Use("1", tool, before, "", error, True), Use("2", tool, after, "done", "", False)


@pytest.mark.parametrize("pair", SAME)
def test_an_argument_put_right_is_the_same_intent(pair: Pair) -> None:
    (found,) = link(Trace("t/project/p", "claude", "s", uses(pair)))
    assert isinstance(found, Resolved) and (found.kind, found.by.id) == ("changed", "2")


@pytest.mark.parametrize("pair", OTHER)
def test_something_else_resolves_nothing(pair: Pair) -> None:
    (found,) = link(Trace("t/project/p", "claude", "s", uses(pair)))
    assert isinstance(found, Unresolved)


def test_what_is_too_much_to_compare_ends() -> None:
    text = " ".join(f"word{n}" for n in range(50_000))
    failed = Use("1", "post", {"channel": "C1", "text": text}, "", "not sent", True)
    assert same_intent(failed, Use("2", "post", {"channel": "C1", "text": text + " more"}))
    assert not same_intent(failed, Use("2", "post", {"channel": "C1", "text": text[::-1]}))
