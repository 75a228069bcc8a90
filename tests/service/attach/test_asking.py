"""A prompt becomes a short question, or none; and what is told fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.service.attach.asking import MOST, question
from metamem.service.attach.hooked import clipped
from metamem.service.marks import fenced


@pytest.mark.parametrize(
    "prompt",
    ["go on", "yes, do that", "ok thanks!", "continue", "/clear", "/init the project files", "fix it", "", "   ", "1",
     "Fix that today", "What did we do?", "Please do it by Friday.",
     "```\nTraceback (most recent call last):\n  File x\n```", "<pasted>many words of a log file</pasted>"],
)  # fmt: skip
def test_what_asks_nothing(prompt: str) -> None:
    assert question(prompt) == ""


@pytest.mark.parametrize(
    "prompt",
    ["What did we do yesterday?", "What happened in March?", "Summarize last week, please."],
)
def test_a_time_is_enough_to_ask_for(prompt: str) -> None:
    assert question(prompt) == prompt


def test_what_is_pasted_is_left_out() -> None:
    prompt = (
        "Why does the login test fail?\n```\nAssertionError: 403 != 200\n```\nIt worked on Monday."
    )
    assert question(prompt) == "Why does the login test fail? It worked on Monday."


def test_what_is_asked_at_the_end_of_a_long_prompt_is_not_lost() -> None:
    filler = " ".join(
        f"Sentence number {n} tells a long story about nothing at all." for n in range(50)
    )
    found = question(f"About the webshop. {filler} Which port does staging use?")
    assert "About the webshop." in found
    assert "Which port does staging use?" in found
    assert len(found) <= MOST


def test_languages_without_spaces() -> None:
    assert question("部署流程是什么？")


@given(st.text(max_size=2000))
def test_it_is_always_short(prompt: str) -> None:
    assert len(question(prompt)) <= MOST


@given(st.lists(st.text(st.characters(exclude_characters="\n\r"), max_size=300), max_size=60))
def test_what_is_told_fits_and_its_fence_is_closed(lines: list[str]) -> None:
    text = fenced("\n".join(lines), "recall", "r1")
    told = clipped(text, 500)
    assert len(told) <= 500 or len(text) <= 500
    assert told.endswith("</metamem-memory>")
