"""Whatever a process sends, the host reads a harmless value or refuses the line."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metamem.core.types import render_advice
from metamem.sandbox.messages import MAX_DEPTH, BadMessage, parse

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=50)
@given(st.dictionaries(st.text(max_size=5), values, max_size=3))
def test_an_honest_message_comes_through(message: dict[str, Any]) -> None:
    assert parse(json.dumps(message).encode()) == message


@given(st.binary() | st.text(alphabet='{}[]":,\\u0d8eE+-.1NaInfity ').map(str.encode))
def test_any_bytes_are_read_or_refused(line: bytes) -> None:
    try:
        value = parse(line)
    except BadMessage:
        return
    assert isinstance(value, dict)
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    render_advice(value)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1e999}',
        b'{"a": "\\ud800"}',
        b'{"a": "\xff"}',
        b'{"a": ' + b"9" * 10_000 + b"}",
        b'{"a": ' + b"[" * 100_000,
        b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a": ' * 200 + b"1" + b"}" * 200,
    ],
)
def test_what_no_honest_process_sends_is_refused(line: bytes) -> None:
    with pytest.raises(BadMessage):
        parse(line)


def test_depth_is_allowed_up_to_its_limit() -> None:
    def nested(depth: int) -> bytes:
        return b'{"a":' * depth + b"1" + b"}" * depth

    parse(nested(MAX_DEPTH))
    with pytest.raises(BadMessage):
        parse(nested(MAX_DEPTH + 1))
