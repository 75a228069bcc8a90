"""Colours change how code looks, never what it says."""

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from metamem.designs.library import load, names
from metamem.report.highlight import diff, highlight


def plain(line):
    return html.unescape(re.sub(r"</?span[^>]*>", "", str(line)))


@given(st.text())
def test_any_text_comes_out_as_it_went_in(source):
    lines = highlight(source)
    assert "\n".join(map(plain, lines)) == source.removesuffix("\n")


@given(st.lists(st.sampled_from(['"""', "a", "\n", " ", "'", "#", "<b>", "\\", "1", "("])))
def test_broken_python_comes_out_as_it_went_in(pieces):
    source = "".join(pieces)
    assert "\n".join(map(plain, highlight(source))) == source.removesuffix("\n")


def test_every_line_of_real_code_is_well_formed_by_itself():
    for name in names():
        for line in highlight(load(name).source):
            assert str(line).count("<span") == str(line).count("</span>")


def test_words_are_coloured_by_what_they_are():
    (line,) = highlight("return len('a') + 1  # why")
    for kind in ("keyword", "builtin", "string", "number", "comment"):
        assert f't-{kind}"' in line


def test_a_diff_tells_what_was_added_and_removed():
    kinds = [(line.kind, line.text) for line in diff("a\nb\n", "a\nc\n")]
    assert ("removed", "-b") in kinds and ("added", "+c") in kinds and ("same", " a") in kinds
    assert diff("same\n", "same\n") == []
