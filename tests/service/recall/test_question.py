"""Questions taken apart."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.service.recall.question import ASKS, parse
from metamem.service.recall.times import span

NOW = int(datetime(2024, 5, 20, tzinfo=UTC).timestamp() * 1000)


def day(year: int, month: int, number: int) -> int:
    return int(datetime(year, month, number, tzinfo=UTC).timestamp() * 1000)


@given(st.text())
def test_anything_can_be_asked(text: str) -> None:
    question = parse(text, NOW)
    assert question.asks in ASKS


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("When did Ana leave?", "when"),
        ("Which year did she move?", "when"),
        ("How long has she played?", "how_long"),
        ("How many dogs are there?", "how_many"),
        ("Where is the boat?", "where"),
        ("Who is Tom?", "who"),
        ("Would she like it?", "yes_no"),
        ("boats", "none"),
        ("熊猫在哪里?", "where"),
    ],
)
def test_what_is_asked_for(text: str, asks: str) -> None:
    assert parse(text, NOW).asks == asks


def test_names_focus_and_meaning() -> None:
    question = parse("Which musical instrument does Ana play?", NOW)
    assert question.names == {"ana"}
    assert question.focus == ("musical", "instrument")
    assert question.meaning == "musical instrument play"


def test_words_that_ask_are_no_terms_in_chinese() -> None:
    assert set(parse("熊猫在哪里?", NOW).terms) == {"熊猫", "猫在"}


@pytest.mark.parametrize(
    ("text", "start", "days"),
    [
        ("on 7 May 2023", day(2023, 5, 7), 1),
        ("on May 7th, 2023", day(2023, 5, 7), 1),
        ("on 2023-05-07", day(2023, 5, 7), 1),
        ("in June", day(2023, 6, 1), 31),
        ("in March", day(2024, 3, 1), 31),
        ("during 2022", day(2022, 1, 1), 366),
        ("yesterday", day(2024, 5, 19), 1),
    ],
)
def test_times(text: str, start: int, days: int) -> None:
    assert span(f"What happened {text}?", NOW) == (start, start + days * 86_400_000)


@pytest.mark.parametrize(("text", "start"), [("today", 20), ("yesterday", 19)])
def test_days_near_by_are_days_of_the_calendar(text: str, start: int) -> None:
    afternoon = NOW + 15 * 3_600_000
    begin = day(2024, 5, start)
    assert span(f"What happened {text}?", afternoon) == (begin, begin + 86_400_000)


def test_no_time_and_a_day_that_is_none() -> None:
    assert span("What may happen?", NOW) is None
    assert span("on 31 June 2023", NOW) is None
