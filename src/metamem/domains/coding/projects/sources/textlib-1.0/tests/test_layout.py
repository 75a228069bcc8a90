import pytest
from textlib.layout import center, indent, table, title_case, truncate, wrap


def test_truncate_long_text():
    assert truncate("a longer text", 8) == "a lon..."


def test_truncate_leaves_short_text():
    assert truncate("short", 5) == "short"
    assert truncate("short", 9) == "short"


def test_truncate_drops_spaces_before_the_ending():
    assert truncate("some words", 8) == "some..."


def test_truncate_to_less_than_the_ending():
    assert truncate("a text", 2) == ".."
    assert truncate("a text", 3) == "..."


def test_truncate_other_ending():
    assert truncate("abcdefgh", 5, "~") == "abcd~"


def test_wrap():
    assert wrap("the quick brown fox", 9) == ["the quick", "brown fox"]


def test_wrap_exact_width():
    assert wrap("ab cd ef", 5) == ["ab cd", "ef"]
    assert wrap("ab cd", 4) == ["ab", "cd"]


def test_wrap_long_word():
    assert wrap("a extraordinary b", 4) == ["a", "extraordinary", "b"]


def test_wrap_nothing():
    assert wrap("", 10) == []


def test_wrap_width():
    assert wrap("a b", 1) == ["a", "b"]
    with pytest.raises(ValueError):
        wrap("a b", 0)


def test_center():
    assert center("ab", 6) == "  ab  "
    assert center("ab", 5, "*") == "*ab**"


def test_center_too_long():
    assert center("abcdef", 4) == "abcdef"


def test_indent():
    assert indent("a\nb") == "    a\n    b"
    assert indent("a", 2) == "  a"


def test_indent_leaves_empty_lines():
    assert indent("a\n\n b", 1) == " a\n\n  b"


def test_table():
    assert table([["name", "age"], ["Jo", "7"]]) == "name  age\nJo    7"


def test_table_gap():
    assert table([["a", "b"], ["cc", "d"]], gap=1) == "a  b\ncc d"


def test_empty_table():
    assert table([]) == ""


def test_title_case():
    assert title_case("the lord OF the rings") == "The Lord of the Rings"
    assert title_case("to be") == "To Be"
