"""The words of the service as JSON and back; whatever else comes in is refused with its name."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.core import errors
from metamem.core.errors import MetamemError, TooMany, UsageError
from metamem.service import verbs, verbs_keys, verbs_scopes, wire
from metamem.service.operations import OPERATIONS
from metamem.service.problems import error_of, problem
from metamem.service.words import Ask, Draft, Listing, Page, Recall, Session, Turn

TEXTS = st.text(st.characters(exclude_categories=()), max_size=20)  # half characters, too
TIMES = st.none() | st.integers(wire.FIRST, wire.LAST)
DRAFTS = st.builds(
    Draft,
    text=TEXTS,
    said_at=TIMES,
    meant_from=TIMES,
    entities=st.lists(TEXTS, max_size=3).map(tuple),
    importance=st.none() | st.floats(0, 1),
    pinned=st.booleans(),
)
ASKS = st.builds(
    Ask,
    query=TEXTS,
    scopes=st.lists(TEXTS, max_size=3).map(tuple),
    since=TIMES,
    floor=st.floats(0, 1),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(st.one_of(DRAFTS, ASKS))
def test_words_come_back_as_they_went(value: Any) -> None:
    text = wire.text_of(value)
    assert text.isascii()
    assert wire.decode(type(value), wire.parse(text)) == value


@given(
    st.builds(
        Listing,
        scopes=st.lists(TEXTS.filter(bool), max_size=3).map(tuple),
        lifecycle=st.sampled_from([(), ("active",), ("archived", "merged")]),
        contains=TEXTS,
        limit=st.integers(1, 1000),
    )
)
def test_arguments_in_addresses_come_back_as_they_went(listing: Listing) -> None:
    names = list(wire.field_types(Listing))
    assert wire.from_query(Listing, wire.to_query(listing, names)) == listing


@given(JSON, st.sampled_from([operation.takes for operation in OPERATIONS]))
def test_anything_else_is_refused_in_words(data: Any, kind: Any) -> None:
    try:
        made = wire.decode(kind, data)
    except UsageError as error:
        assert error.message
    else:
        assert isinstance(made, kind)


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_any_bytes_are_json_or_refused(text: Any) -> None:
    try:
        wire.parse(text)
    except UsageError:
        pass
    else:
        json.loads(text)


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        (Draft, {"text": "x", "tpye": "note"}, "tpye"),
        (Draft, {}, "text is missing"),
        (Draft, {"text": None}, "text must be text, not null"),
        (Draft, {"text": "x", "pinned": 1}, "pinned must be true or false"),
        (Draft, {"text": "x", "said_at": True}, "said_at must be a whole number"),
        (Draft, {"text": "x", "said_at": wire.LAST + 1}, "said_at must be between"),
        (Draft, {"text": "x", "entities": "Ada"}, "entities must be an array, not text"),
        (Draft, {"text": "x", "entities": ["a"] * 1001}, "at most 1000"),
        (Session, {"id": "1", "turns": ["hello"]}, "its fields: speaker, text"),
        (Session, {"id": "1", "turns": [{"speaker": "a"}]}, "turns[0].text is missing"),
        (verbs.Feedback, {"recall": "r", "fact": "f", "verdict": "fine"}, "no verdict is called"),
        (verbs_keys.MakeKey, {"per_minute": 2**60}, "per_minute must be between"),
    ],
)
def test_a_refusal_names_the_place(kind: Any, data: Any, words: str) -> None:
    with pytest.raises(UsageError) as told:
        wire.decode(kind, data)
    assert words in str(told.value)


def test_deep_json_is_refused() -> None:
    deep: Any = 1
    for _ in range(wire.DEEPEST + 1):
        deep = [deep]
    with pytest.raises(UsageError, match="nested"):
        wire.parse(json.dumps(deep))


def test_replies_may_hold_more_than_is_known_here() -> None:
    page = wire.decode(Page, {"facts": [], "next": "f1", "colour": "red"}, strict=False)
    assert page == Page((), "f1")


def test_no_reply_holds_what_json_cannot() -> None:
    recall = Recall("r1", (), "", 0, milliseconds={"all": math.inf})
    assert json.loads(wire.text_of(recall))["milliseconds"] == {"all": None}


def test_every_operation_sends_all_its_arguments_and_no_more() -> None:
    turns = (Turn("Ada", "Hello"),)
    for call in (
        verbs.remember("a/b/c", [Draft("x")]),
        verbs.ingest("a/b/c", Session("1", turns, "host", "title", 1, 2)),
        verbs.forget("f/1?#%", "why"),
        verbs_scopes.grant("a/b/c", "ada", "reader"),
    ):
        assert call.body is not None
        sent = wire.parse(call.body)
        inside = {name: getattr(call.arguments, name) for name in call.operation.in_path}
        assert wire.decode(call.operation.takes, {**sent, **inside}) == call.arguments
    assert verbs.forget("f/1?#%").path == "/v1/facts/f%2F1%3F%23%25/forget"
    assert len({(each.method, each.path) for each in OPERATIONS}) == len(OPERATIONS)
    assert len({each.name for each in OPERATIONS}) == len(OPERATIONS)


@pytest.mark.parametrize(
    "kind",
    [
        *(errors.BadKey, errors.Denied, errors.UnknownName, errors.UsageError, errors.Conflict),
        *(errors.Busy, errors.Erased, errors.StoreError, errors.NotInstalled, errors.TooMany),
    ],
)
def test_errors_come_back_as_what_they_were(kind: type[MetamemError]) -> None:
    told = problem(kind("what went wrong", hint="what to do"))
    back = error_of(told.status, wire.parse(wire.text_of(told)))
    assert type(back) is kind
    assert (back.message, back.hint) == ("what went wrong", "what to do")


def test_how_long_to_wait_comes_back_too() -> None:
    told = problem(TooMany("slowly", retry_after=2.5))
    back = error_of(429, wire.parse(wire.text_of(told)))
    assert isinstance(back, TooMany) and back.retry_after == 2.5


@pytest.mark.parametrize("data", [None, [], "no", {"type": 3}, {"detail": {}}])
def test_answers_of_others_are_errors_too(data: Any) -> None:
    assert isinstance(error_of(502, data), errors.StoreError)
    assert isinstance(error_of(404, data), errors.UnknownName)
    assert isinstance(error_of(418, data), errors.UsageError)
