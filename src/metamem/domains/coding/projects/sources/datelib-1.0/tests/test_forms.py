import pytest
from datelib.forms import format_iso, format_words, ordinal, parse_iso, parse_words, relative


def test_parse_iso():
    assert parse_iso("2024-03-05") == (2024, 3, 5)
    assert parse_iso(" 2024-3-5 ") == (2024, 3, 5)


def test_parse_iso_refuses_other_text():
    with pytest.raises(ValueError, match="not a date"):
        parse_iso("2024-03")


def test_parse_iso_refuses_other_days():
    with pytest.raises(ValueError, match="no such day"):
        parse_iso("2023-02-29")


def test_parse_words():
    assert parse_words("5 March 2024") == (2024, 3, 5)
    assert parse_words("1 JAN 1999") == (1999, 1, 1)
    assert parse_words("31 dec 2000") == (2000, 12, 31)


def test_parse_words_refuses_other_months():
    with pytest.raises(ValueError, match="no such month"):
        parse_words("5 Foo 2024")


def test_format_iso():
    assert format_iso((2024, 3, 5)) == "2024-03-05"
    assert format_iso((987, 12, 25)) == "0987-12-25"


def test_format_words():
    assert format_words((2024, 3, 5)) == "5 Mar 2024"
    assert format_words((2024, 12, 5)) == "5 Dec 2024"


def test_ordinal():
    assert [ordinal(n) for n in (1, 2, 3, 4, 10)] == ["1st", "2nd", "3rd", "4th", "10th"]
    assert ordinal(21) == "21st"


def test_ordinal_of_teens():
    assert [ordinal(n) for n in (11, 12, 13, 14, 111)] == ["11th", "12th", "13th", "14th", "111th"]


def test_relative():
    assert relative(0) == "today"
    assert relative(1) == "tomorrow"
    assert relative(-1) == "yesterday"
    assert relative(3) == "in 3 days"
    assert relative(-2) == "2 days ago"
