"""The time that a text speaks of, from its words and from when it was said."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.service.writing.dates import DAY, meant


def ms(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000


SAID = ms(date(2023, 5, 10)) + 13 * 3_600_000  # a Wednesday, at one o'clock


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("It broke yesterday.", "2023-05-09", None),
        ("The day before yesterday we met.", "2023-05-08", None),
        ("See you tomorrow", "2023-05-11", None),
        ("Tomorrow's opening will be fun", "2023-05-11", None),
        ("The day after tomorrow is a holiday", "2023-05-12", None),
        ("I had pasta last night", "2023-05-09", None),
        ("Deploy happens tonight", "2023-05-10", None),
        ("We met last Friday", "2023-05-05", None),
        ("last Wednesday was rainy", "2023-05-03", None),
        ("She arrived on Monday", "2023-05-08", None),
        ("She will arrive on Monday", "2023-05-15", None),
        ("It is due this Friday", "2023-05-12", None),
        ("Two weeks ago we moved", "2023-04-23", "2023-04-29"),
        ("3 days ago the disk was full", "2023-05-07", None),
        ("a month ago", "2023-04-01", "2023-04-30"),
        ("two years ago she left", "2021-01-01", "2021-12-31"),
        ("It ends in 3 days", "2023-05-13", None),
        ("in two weeks", "2023-05-21", "2023-05-27"),
        ("five days from now", "2023-05-15", None),
        ("We won in March", "2023-03-01", "2023-03-31"),
        ("We won in August", "2022-08-01", "2022-08-31"),
        ("We will move in March", "2024-03-01", "2024-03-31"),
        ("We will move in August", "2023-08-01", "2023-08-31"),
        ("last March was cold", "2023-03-01", "2023-03-31"),
        ("next March", "2024-03-01", "2024-03-31"),
        ("on 7 May 2023 the shop opened", "2023-05-07", None),
        ("On May 7th, 2023, the shop opened", "2023-05-07", None),
        ("the 7th of May 2023", "2023-05-07", None),
        ("The release was on May 7", "2023-05-07", None),
        ("The release was on 12 June", "2022-06-12", None),
        ("The release will be on 12 June", "2023-06-12", None),
        ("2023-05-07", "2023-05-07", None),
        ("At 2023-05-07T10:00:00Z it failed", "2023-05-07", None),
        ("2023/05/07 was a Sunday", "2023-05-07", None),
        ("25/12/2022", "2022-12-25", None),
        ("12/25/2022", "2022-12-25", None),
        ("am 24.12.2022", "2022-12-24", None),
        ("2023年5月7日に会った", "2023-05-07", None),
        ("昨天我去了医院。", "2023-05-09", None),
        ("明日、東京に行きます。", "2023-05-11", None),
        ("어제 병원에 갔어요.", "2023-05-09", None),
        ("明後日は休みです", "2023-05-12", None),
        ("我们前天搬家了", "2023-05-08", None),
        ("上周我们搬家了", "2023-05-01", "2023-05-07"),
        ("来月から働きます", "2023-06-01", "2023-06-30"),
        ("작년에 이사했어요", "2022-01-01", "2022-12-31"),
        ("지난 달에 만났어요", "2023-04-01", "2023-04-30"),
        ("三人在3天前到达", "2023-05-07", None),
        ("3日前に着いた", "2023-05-07", None),
        ("10일 전에 시작했다", "2023-04-30", None),
        ("in May 2022", "2022-05-01", "2022-05-31"),
        ("Founded in 2019", "2019-01-01", "2019-12-31"),
        ("since 2021 she works there", "2021-01-01", "2023-05-10"),
        ("last week", "2023-05-01", "2023-05-07"),
        ("next week", "2023-05-15", "2023-05-21"),
        ("last weekend", "2023-05-06", "2023-05-07"),
        ("last month", "2023-04-01", "2023-04-30"),
        ("this year", "2023-01-01", "2023-12-31"),
        ("last summer we sailed", "2022-06-01", "2022-08-31"),
        ("from 7 May 2023 to 9 May 2023", "2023-05-07", "2023-05-09"),
        ("between 2023-05-01 and 2023-05-03", "2023-05-01", "2023-05-03"),
        ("yesterday, I say: yesterday!", "2023-05-09", None),
    ],
)
def test_what_is_said_of_time(text: str, first: str, last: str | None) -> None:
    begin, end = date.fromisoformat(first), date.fromisoformat(last or first)
    assert meant(text, SAID) == (ms(begin), ms(end) + DAY - 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "05/07/2023",  # May or July
        "next Friday",  # of which week
        "on Friday",  # no tense
        "in March",  # no tense
        "a few days ago",
        "some weeks ago",
        "It may rain and they march on",
        "May I ask?",
        "version 2023.05.07 of the tool",
        "1.2.2023-beta",
        "2023-13-40",
        "30 February 2023",
        "port 2023",
        "in 1999 lines of code",
        "moved from Monday to Friday",
        "yesterday it failed and tomorrow it will pass",
        "before 2023-05-07",
        "until tomorrow",
        "in a day or two",
        "the summer of love",
        "id 12023-05-071",
        "10.0.0.1",
        "April asked Ada",
        "以前天气很好",
        "1月3日前に終える",
        "每天跑步",
    ],
)
def test_what_is_left_open_has_no_answer(text: str) -> None:
    assert meant(text, SAID) == (None, None)


WORDS = "in on last next May march 7 2023 Friday 12/ / 99 ago two weeks"
DAYS = st.dates(date(1950, 1, 1), date(2150, 1, 1))
FORMS = (
    "{:%Y-%m-%d}",
    "on {:%-d %B %Y}",
    "{:%B %-d, %Y}",
    "{:%Y/%m/%d}",
    "{:%d.%m.%Y}",
    "{:%-d %b %Y}",
)


@given(DAYS, st.sampled_from(FORMS), DAYS)
def test_a_full_date_is_that_day_whenever_it_was_said(day: date, form: str, said: date) -> None:
    assert meant(f"We met, {form.format(day)}, in Rome.", ms(said)) == (ms(day), ms(day) + DAY - 1)


@given(DAYS, st.integers(0, 400), st.integers(0, DAY - 1))
def test_days_ago_are_counted_from_what_was_said(said: date, count: int, clock: int) -> None:
    day = said - timedelta(count)
    assert meant(f"{count} days ago", ms(said) + clock) == (ms(day), ms(day) + DAY - 1)


@given(DAYS, st.sampled_from(("last week", "last month", "last year", "last Friday", "yesterday")))
def test_the_last_of_anything_is_over(said: date, words: str) -> None:
    first, last = meant(words, ms(said))
    assert first is not None and last is not None
    assert first <= last < ms(said)


@given(
    st.lists(st.sampled_from(WORDS.split())),
    st.integers(-(10**17), 10**17),
)
def test_no_words_and_no_clock_upset_it(words: list[str], said: int) -> None:
    first, last = meant(" ".join(words), said)
    assert (first is None) == (last is None)
    assert first is None or last is None or first <= last
