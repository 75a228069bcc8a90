"""Questions of nothing but a time, taken apart."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.service.recall.asked_times import asked, days

NOW = int(datetime(2026, 11, 19, 15, 30, tzinfo=UTC).timestamp() * 1000)  # a Thursday


@given(st.text())
def test_anything_can_be_asked(text: str) -> None:
    asked(text, NOW)
    asked(f"What did we do yesterday {text}", NOW, limited=True)


@pytest.mark.parametrize(
    ("text", "words", "dates"),
    [
        ("What did we do yesterday?", "of yesterday", "2026-11-18"),
        ("yesterday", "of yesterday", "2026-11-18"),
        ("What is going on today?", "of today", "2026-11-19"),
        ("What did we do the day before yesterday?", "of the day before yesterday", "2026-11-17"),
        ("what happened 3 days ago?", "of 3 days ago", "2026-11-16"),
        ("What did we decide on 2026-11-18?", "of 2026-11-18", "2026-11-18"),
        ("what happened on 3 march", "of 3 March", "2026-03-03"),
        ("What happened on May 7th, 2023?", "of May 7th, 2023", "2023-05-07"),
        ("what did I decide last week?", "of last week", "2026-11-09 to 2026-11-15"),
        ("What happened in March?", "of March", "2026-03-01 to 2026-03-31"),
        ("what happened in december", "of december", "2025-12-01 to 2025-12-31"),
        ("What is planned for December?", "of December", "2026-12-01 to 2026-12-31"),
        ("What happened in 2025?", "of 2025", "2025-01-01 to 2025-12-31"),
        ("what did we work on Monday?", "of Monday", "2026-11-16"),
        ("what changed since Monday?", "since Monday", "2026-11-16 to 2026-11-19"),
        ("What's new since March?", "since March", "2026-03-01 to 2026-11-19"),
        ("what happened before March?", "before March", "until 2026-02-28"),
        ("what happened after Monday?", "after Monday", "2026-11-17 to 2026-11-19"),
        (
            "What happened between Monday and Wednesday?",
            "from Monday to Wednesday",
            "2026-11-16 to 2026-11-18",
        ),
        (
            "What changed from 2025-12-30 until 2026-01-02?",
            "from 2025-12-30 to 2026-01-02",
            "2025-12-30 to 2026-01-02",
        ),
        ("errors in the last 3 days", "of the last 3 days", "2026-11-16 to 2026-11-19"),
        ("anything in the past week?", "of the past week", "2026-11-12 to 2026-11-19"),
        ("What broke over the weekend?", "of last weekend", "2026-11-14 to 2026-11-15"),
        (
            "What happened the week of 9 November?",
            "of the week of 9 November",
            "2026-11-09 to 2026-11-15",
        ),
        ("Please summarize yesterday.", "of yesterday", "2026-11-18"),
    ],
)
def test_times(text: str, words: str, dates: str) -> None:
    found = asked(text, NOW)
    assert found is not None and not found.speaker
    assert (found.words, days(found.first, found.last)) == (words, dates)


def test_days_are_whole() -> None:
    found = asked("What did we do yesterday?", NOW)
    begin = int(datetime(2026, 11, 18, tzinfo=UTC).timestamp() * 1000)
    assert found is not None
    assert (found.first, found.last) == (begin, begin + 86_400_000 - 1)


def test_sorts_and_names() -> None:
    found = asked("Which decisions and plans did Ada make last week?", NOW)
    assert found is not None
    assert (found.types, found.speaker, found.by_saying) == (("decision", "plan"), "Ada", True)
    found = asked("What happened yesterday?", NOW)
    assert found is not None and found.happening and not found.by_saying


@pytest.mark.parametrize(
    "text",
    [
        "What did we do?",
        "What did we decide?",
        "What may happen?",
        "When did we decide that yesterday?",
        "Where were we last week?",
        "How many errors were there yesterday?",
        "What did the log of the old server say yesterday?",
        "What happened next Friday?",  # of this week or of the one after it: people differ
        "What happened on 31 June 2026?",
        "昨天我们做了什么?",
        "What happened on Monday, in March and in 2025?",
    ],
)
def test_other_questions(text: str) -> None:
    assert asked(text, NOW) is None


def test_a_time_may_be_told_by_filters() -> None:
    assert asked("What happened?", NOW) is None
    assert asked("What happened?", NOW, limited=True) is not None
    assert asked("memory", NOW, limited=True) is None
    assert asked("What happened to the door?", NOW, limited=True) is None
