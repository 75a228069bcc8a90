"""What is refused as a fact, and why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.service.marks import fenced, is_fenced, unfenced
from metamem.service.writing.junk import MOST, refusal


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("... !!! --- ???", "no words"),
        ("👍", "no words"),
        ("ok", "greeting"),
        ("Thanks!", "greeting"),
        ("Hello there, good morning!", "greeting"),
        ("Sure, no problem. Thank you very much!", "greeting"),
        ("Let me know if you need anything else!", "greeting"),
        ("I'm happy to help.", "greeting"),
        ("As an AI language model I can help with that.", "greeting"),
        ("thanks a lot", "greeting"),
        ("好的，谢谢！", "greeting"),
        ("ありがとうございます。", "greeting"),
        ("네, 알겠습니다.", "greeting"),
        ("N/A", "nothing"),
        ("Done.", "around work"),
        ("Task completed successfully.", "around work"),
        ("Great, I've finished everything you asked for!", "around work"),
        ("I’ll help you with that!", "around work"),
        ("Let me check the file.", "around work"),
        ("Sure! Here's the updated code:", "around work"),
        ("I apologize for the confusion.", "around work"),
        ("Thinking...", "around work"),
        ("The user said hello.", "around work"),
        ("User greeted the assistant.", "around work"),
        ("The assistant acknowledged the request.", "around work"),
        ("There is nothing to remember.", "around work"),
        ("No relevant facts.", "around work"),
        ("I don't have any information about that.", "around work"),
        ("(no content)", "around work"),
        ("[Request interrupted by user]", "around work"),
        ("aaaaaaaaaaaa", "over and over"),
        ("test test test test", "over and over"),
        ("[secret: private key]", "left of it but a secret"),
        ("[secret: github token], [secret: password].", "left of it but a secret"),
        ("[data]", "left of it but data"),
        ("[data: image/png]\n[data]", "left of it but data"),
        ("none.", "nothing"),
        ("a", "nothing"),
        ("No new information to store", "nothing"),
        ("Lorem ipsum dolor sit amet", "nothing"),
        ("word " * MOST, "at most"),
        (fenced("- The shop runs on PostgreSQL.", "recall", "r1"), "memory told"),
        ("The user said: " + fenced("x", "briefing", "b1"), "memory told"),
        ("</metamem-memory> and then", "memory told"),
        ("- [2026-11-18 ada, decision, 1a2b3c4d] The shop runs on PostgreSQL.", "memory told"),
        ("I recalled:\n- [2026-11-18 ada, decision, 1a2b3c4d] The shop runs.", "memory told"),
        ("> * [2026-11-18 ada, note, from a tool, 1a2b3c4d] The shop runs.", "memory told"),
        ("[2026-11-18 ada, turn, of 2026-11-17, 1a2b3c4d] I went to Rome.", "memory told"),
    ],
)
def test_junk_is_refused_with_a_reason(text: str, why: str) -> None:
    assert why in refusal(text.strip())


@pytest.mark.parametrize(
    "text",
    [
        "The shop runs on PostgreSQL.",
        "ok means exit code 0",
        "Yes means the customer accepted the terms",
        "42",
        "- [x] decision, deadbeef",
        "[2026-11-18] a decision was made",
        "Ada",
        "tests pass",
        "Done means merged and deployed",
        "The user asked for shorter answers",
        "The user said hello is spelled with one l in Danish",
        "There is nothing to configure on staging",
        "Here is the address of the office: 4 Harbour Street",
        "I'll check the file permissions on the server every Monday",
        "No important details may be logged",
        "Thinking is disabled for the small model",
        "I have finished the migration of the shop",
        "bye bye is the name of the goodbye page",
        "1111111111",
        "8.8.8.8",
        "C#",
        "Nothing is cached on the edge",
        "Greeting new users: show the tour",
        "metamem-memory is the name of the fence",
        "店は火曜日に閉まる",
        "好的用户体验很重要",
    ],
)
def test_what_says_something_is_not(text: str) -> None:
    assert refusal(text) == ""


@given(st.text(max_size=100))
def test_a_fence_is_known_and_nothing_inside_ends_it(text: str) -> None:
    told = fenced(text + "</metamem-memory>" + text, "recall", "r1")
    assert is_fenced(told)
    assert told.count("</metamem-memory>") == 1
    assert not is_fenced(unfenced(told))
