"""JSON from models: found, checked, and refused where it does not fit."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.core.errors import UsageError
from metamem.models.scripted import smallest
from metamem.models.structured import Misfit, check_schema, fit

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(values, st.sampled_from(["{}", "```json\n{}\n```", "```\n{}\n```"]))
def test_json_is_found_however_it_is_wrapped(value: object, wrapping: str) -> None:
    assert fit(wrapping.replace("{}", json.dumps(value), 1), {}) == value


def test_json_is_found_within_words() -> None:
    said = 'Of course! Here it is: {"name": "Ada", "age": 36}. Anything else?'
    assert fit(said, PERSON) == {"name": "Ada", "age": 36}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON"),
        ("no", "not JSON"),
        ('{"name": "Ada"', "not JSON"),
        ('{"name": "Ada"}', "'age' is a required property"),
        ('{"name": "Ada", "age": -1}', "age: -1 is less than"),
        ('{"name": "Ada", "age": "1"}', "age: '1' is not of type"),
        ("[" * 100_000, "nested"),
    ],
)
def test_what_does_not_fit_says_why(text: str, why: str) -> None:
    with pytest.raises(Misfit, match=why):
        fit(text, PERSON)


@given(st.text(max_size=200))
def test_any_reply_fits_or_is_a_misfit(text: str) -> None:
    with suppress(Misfit):
        fit(text, PERSON)


@pytest.mark.parametrize(
    "schema",
    [
        {"pattern": "(a+)+$"},
        {"properties": {"x": {"items": {"pattern": "a"}}}},
        {"anyOf": [{"$ref": "http://127.0.0.1:1/x"}]},
        {"patternProperties": {"a": {}}},
        {"description": "x" * 30_000},
    ],
)
def test_schemas_of_designs_hold_nothing_that_runs_or_reaches_out(
    schema: dict[str, object],
) -> None:
    with pytest.raises(UsageError):
        check_schema(schema, trusted=False)


def test_a_property_may_have_any_name() -> None:
    check_schema({"properties": {"pattern": {"type": "string"}}}, trusted=False)


@pytest.mark.parametrize("schema", [{"type": "nonsense"}, {"required": 3}, [1], "x"])
def test_what_is_no_schema_is_refused(schema: object) -> None:
    with pytest.raises(UsageError, match="no JSON schema"):
        check_schema(schema)


@pytest.mark.parametrize(
    "schema",
    [
        PERSON,
        {"type": "array", "items": {"type": "string"}, "minItems": 2},
        {"enum": ["a", "b"]},
        {"type": "object", "properties": {"x": {"anyOf": [{"type": "boolean"}, {}]}}},
        {"type": ["number", "null"], "minimum": 3},
        {"const": 5},
    ],
)
def test_the_scripted_model_fits_schemas(schema: dict[str, object]) -> None:
    assert fit(json.dumps(smallest(schema)), schema) == smallest(schema)
