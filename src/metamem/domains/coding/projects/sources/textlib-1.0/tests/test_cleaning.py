import pytest
from textlib.cleaning import (
    initials,
    normalize_spaces,
    parse_flag,
    remove_vowels,
    same_text,
    slugify,
    split_list,
    strip_comments,
    unquote,
)


def test_normalize_spaces():
    assert normalize_spaces("  a  b \t c\n") == "a b c"


def test_slugify():
    assert slugify("Hello, World!") == "hello-world"


def test_slugify_spaces_and_case():
    assert slugify("  The BIG   One ") == "the-big-one"


def test_slugify_separator():
    assert slugify("one two", "_") == "one_two"


def test_strip_comments():
    assert strip_comments("a = 1  # one\n# nothing\nb = 2") == "a = 1\nb = 2"


def test_strip_comments_second_marker():
    assert strip_comments("a # b # c") == "a"


def test_strip_comments_other_marker():
    assert strip_comments("a # b ; c", ";") == "a # b"


def test_remove_vowels():
    assert remove_vowels("Education") == "dctn"
    assert remove_vowels("APE ape") == "P p"


def test_unquote():
    assert unquote("'word'") == "word"
    assert unquote('"two words"') == "two words"
    assert unquote("''") == ""


def test_unquote_with_spaces_around():
    assert unquote("  'word' ") == "word"


def test_unquote_leaves_other_text():
    assert unquote("'word") == "'word"
    assert unquote("'") == "'"
    assert unquote("abca") == "abca"


def test_parse_flag():
    assert parse_flag("yes") is True
    assert parse_flag("1") is True
    assert parse_flag("off") is False
    assert parse_flag("") is False


def test_parse_flag_case_and_spaces():
    assert parse_flag("True") is True
    assert parse_flag(" NO ") is False


def test_parse_flag_refuses_other_words():
    with pytest.raises(ValueError):
        parse_flag("maybe")


def test_split_list():
    assert split_list("a, b,c ") == ["a", "b", "c"]


def test_split_list_leaves_out_empty_items():
    assert split_list("a,, b,") == ["a", "b"]
    assert split_list(" , ") == []


def test_split_list_separator():
    assert split_list("a; b", ";") == ["a", "b"]


def test_same_text():
    assert same_text("Hello  World", "hello world ")
    assert same_text("hello", "HELLO")
    assert not same_text("hello", "help")


def test_initials():
    assert initials("ada king lovelace") == "AKL"
    assert initials("") == ""
