"""Experiences as JSON, whatever somebody sends."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metamem.core.errors import UsageError
from metamem.core.types import Experience, Message, Step
from metamem.service import wire
from metamem.service.designs.clean import clean_experience
from metamem.service.designs.requests import read_experience


@pytest.mark.parametrize(
    "experience",
    [
        None,
        [],
        "x",
        {"goal": 1},
        {"reward": "much"},
        {"reward": float("nan")},
        {"reward": float("inf")},
        {"steps": [["go"]]},
        {"steps": [["go", "there", [], None, False]]},
        {"messages": [["ada"]]},
        {"messages": [[1, 2, 3]]},
        {},
        {"gaol": "mend billing"},
        {"goal": "mend billing", "steps": [["go", "there", [], 0.0, False, "more"]]},
        {"goal": "mend billing", "steps": [{"action": "go"}]},
    ],
)
def test_a_wrong_experience_is_refused_in_words(experience: Any) -> None:
    with pytest.raises(UsageError):
        clean_experience(read_experience(experience))


def test_steps_and_messages_are_lists_or_objects() -> None:
    step = Step("go", "there", ("stay",), 0.5, True)
    told = Experience("mend", steps=(step,), reward=1.0, messages=(Message("ada", "hi"),))
    assert read_experience(told.to_json()) == told
    assert read_experience(wire.encode(told)) == told
    short = {"goal": "mend", "steps": [["go", "there"]]}
    assert read_experience(short).steps == (Step("go", "there"),)


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from(["goal", "steps", "messages", "reward", "actions"]), _JSON))
def test_whatever_is_sent_is_an_experience_or_a_usage_error(data: dict[str, Any]) -> None:
    with suppress(UsageError):
        read_experience(data)
