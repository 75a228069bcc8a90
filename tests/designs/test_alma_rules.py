"""The rules of ALMA's helpers: what counts as a schema, and what a filter chooses."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.designs.alma.filters import chosen, said
from metamem.designs.alma.schemas import real_schema
from metamem.models.structured import check_schema, fit

# Anything that a model might take for a schema: words that validators know, with any value.
WORDS = ["type", "description", "enum", "items", "properties", "required", "anyOf", "minimum"]
WORDS += ["maxItems", "additionalProperties", "pattern", "format", "$ref", "default", "goal"]
TYPES = ["string", "array", "object", "null", "str", "list", "float", "text"]
VALUES = st.recursive(
    st.sampled_from(TYPES) | st.booleans() | st.integers(-2, 3) | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4)
    ),
    max_leaves=12,
)
MAPPINGS = st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=4)


@given(st.dictionaries(st.sampled_from(WORDS), VALUES, min_size=1, max_size=4))
def test_whatever_is_given_the_host_takes_it(given: dict[str, Any]) -> None:
    schema = real_schema(given)
    check_schema(schema, trusted=False)
    json.dumps(schema)


@given(st.dictionaries(st.sampled_from(["lesson", "why", "type"]), MAPPINGS))
def test_a_mapping_of_fields_demands_none_of_them(fields: dict[str, Any]) -> None:
    schema = real_schema(fields)
    assert fit("{}", schema) == {}
    assert set(schema["properties"]) == set(fields)


def test_a_real_schema_is_only_mended() -> None:
    inner = {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "int"}}}}
    given = {"type": "object", "properties": {"list": inner, "any": True}, "required": ["list"]}
    assert real_schema(given) == {
        "type": "object",
        "properties": {
            "list": {
                "type": "array",
                "items": {"type": "object", "properties": {"a": {"type": "integer"}}},
            },
            "any": True,
        },
        "required": ["list"],
    }
    assert real_schema({"mood": {"type": "string"}, "required": ["mood"], "why": "in short"}) == {
        "type": "object",
        "properties": {"mood": {"type": "string"}, "why": {"description": "in short"}},
        "required": ["mood"],
    }


@given(
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 3) | st.booleans() | st.text("x")),
    st.sampled_from("abc"),
    st.integers(0, 3) | st.booleans() | st.text("x"),
)
def test_filters_and_their_opposites(metadata: dict[str, Any], key: str, value: Any) -> None:
    def fits(operator: str, wanted: Any) -> bool:
        return chosen(metadata, {key: {operator: wanted}})

    equal = chosen(metadata, {key: value})
    assert equal == fits("$eq", value) == fits("$in", [value])
    assert equal != fits("$ne", value) and equal != fits("$nin", [value])
    assert equal == (
        key in metadata and (type(metadata[key]), metadata[key]) == (type(value), value)
    )
    assert not (fits("$gt", value) and fits("$lte", value))
    assert chosen(metadata, {"$or": [{key: value}, {key: {"$ne": value}}]})
    assert not chosen(metadata, {"$and": [{key: value}, {key: {"$ne": value}}]})


@given(st.text("ab ", max_size=6), st.text("ab", min_size=1, max_size=2))
def test_texts_are_chosen_by_what_they_contain(text: str, part: str) -> None:
    has, has_not = {"$contains": part}, {"$not_contains": part}
    assert said(text, has) == (part in text) != said(text, has_not)
    assert said(text, {"$or": [has, has_not]}) and not said(text, {"$and": [has, has_not]})
    with pytest.raises(ValueError, match="exactly one"):
        said(text, has | has_not)
