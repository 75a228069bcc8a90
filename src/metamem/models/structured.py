"""JSON from models: what is asked for, and whether it came."""

import json
import re
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from referencing import Registry

from metamem.core.errors import UsageError

_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
MAX_SCHEMA = 20_000  # characters
# Patterns run on the host and can be made to take for ever; references could lead anywhere.
_DATA = ("enum", "const", "default", "examples")  # what stands there is no schema
_FORBIDDEN = ("pattern", "patternProperties", "$ref", "$dynamicRef", "format")


class Misfit(ValueError):
    """Not the JSON that was asked for; the message tells the model why."""


def check_schema(schema: Any, *, trusted: bool = True) -> None:
    """Refuse what is no JSON schema, and from designs also what is unsafe to run here."""
    try:
        Draft202012Validator.check_schema(schema)
        if not trusted and len(json.dumps(schema)) > MAX_SCHEMA:
            raise UsageError(f"a schema may have {MAX_SCHEMA} characters at most")
    except (SchemaError, TypeError, ValueError, RecursionError) as error:
        said = error.message if isinstance(error, SchemaError) else str(error)
        raise UsageError(f"this is no JSON schema: {said}") from error
    if not trusted and (word := _first(schema)):
        raise UsageError(f"a design's schema may not use {word!r}")


def _first(schema: Any) -> str:
    """The first forbidden keyword, as a keyword: a property may have any name."""
    if isinstance(schema, list):
        return next((word for item in schema if (word := _first(item))), "")
    if not isinstance(schema, Mapping):
        return ""
    for name, value in schema.items():
        if name in _FORBIDDEN:
            return str(name)
        if name in _DATA:
            continue
        parts = list(value.values()) if name == "properties" and isinstance(value, dict) else value
        if word := _first(parts):
            return word
    return ""


def fit(text: str, schema: Mapping[str, Any]) -> Any:
    """The JSON in a reply, if it fits the schema."""
    value = _parse(text)
    validator = Draft202012Validator(schema, registry=Registry())
    try:
        validator.validate(value)
    except ValidationError as error:
        place = "/".join(str(part) for part in error.absolute_path) or "the whole"
        raise Misfit(f"{place}: {error.message}"[:500]) from error
    except RecursionError as error:
        raise Misfit("it is nested too deeply") from error
    return value


def _parse(text: str) -> Any:
    """Whole text, else a fenced block, else from the first bracket to the last."""
    candidates = [text, *_FENCE.findall(text)]
    start = min((i for i in (text.find("{"), text.find("[")) if i >= 0), default=-1)
    end = max(text.rfind("}"), text.rfind("]"))
    if 0 <= start < end:
        candidates.append(text[start : end + 1])
    problem = "it is not JSON"
    for candidate in candidates:
        try:
            return json.loads(candidate)
        except RecursionError as error:
            raise Misfit("it is nested too deeply") from error
        except ValueError as error:
            problem = f"it is not JSON: {error}"
    raise Misfit(problem)


def in_words(schema: Mapping[str, Any]) -> str:
    """The wish for JSON, for models that take no schema."""
    return f"Reply with JSON alone, which must fit this JSON schema:\n{json.dumps(schema)}"
