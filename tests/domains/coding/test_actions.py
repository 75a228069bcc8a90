"""Reading what an agent writes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.domains.coding.actions import HELP, Action, ActionError, parse, show

TEXT = st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip)


@given(path=TEXT, find=TEXT, replace=st.text(), line=st.integers(1, 10**6))
def test_what_show_writes_parse_reads(path, find, replace, line):
    arguments = {"path": path, "find": find, "replace": replace, "line": line}
    written = show("edit_file", **arguments)
    assert "\n" not in written
    assert parse(written) == Action("edit_file", arguments)


@given(st.text() | st.builds(json.dumps, st.recursive(st.none() | st.text(), st.lists)))
def test_any_text_is_an_action_or_a_plain_refusal(text):
    try:
        action = parse(text)
    except ActionError as error:
        assert str(error)
    else:
        assert action.name in HELP


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("list_dir", "list_dir", {}),
        ("list_dir src/shop", "list_dir", {"path": "src/shop"}),
        ("read_file a.py", "read_file", {"path": "a.py"}),
        ("read_file a.py 10 5", "read_file", {"path": "a.py", "start": 10, "lines": 5}),
        ("search def total", "search", {"query": "def total"}),
        ("run_command pytest -q | tail", "run_command", {"command": "pytest -q | tail"}),
        ("run_command cat <<E\nhi\nE", "run_command", {"command": "cat <<E\nhi\nE"}),
        ("create_file a.py\nx = 1\n", "create_file", {"path": "a.py", "content": "x = 1"}),
        (
            "edit_file a.py\nx = 1\ny = 2\n=====\nx = 2",
            "edit_file",
            {"path": "a.py", "find": "x = 1\ny = 2", "replace": "x = 2"},
        ),
        (
            'edit_file a.py {"find": "{1}", "replace": "2"}',
            "edit_file",
            {"path": "a.py", "find": "{1}", "replace": "2"},
        ),
        ('{"action": "submit"}', "submit", {}),
        (" undo ", "undo", {}),
    ],
)
def test_both_forms(text, name, arguments):
    assert parse(text) == Action(name, arguments)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "fly",
        "read_file",
        "read_file a.py ten",
        "read_file a.py 1 2 3",
        "submit now",
        "undo\nsubmit",
        "edit_file a.py",
        'edit_file a.py {"find": "x"}',
        'edit_file a.py {"find": "x", "replace": "y", "content": "z"}',
        '{"action": "read_file", "path": 3}',
        '{"action": "read_file", "path": "a", "start": true}',
        '{"action": "read_file", "path": "a", "mode": "r"}',
        '{"action": ["submit"]}',
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
)
def test_what_is_refused(text):
    with pytest.raises(ActionError):
        parse(text)
