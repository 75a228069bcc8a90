"""JSON schemas as the authors of ALMA's designs write them, made such that the host takes them."""

from collections.abc import Callable, Mapping
from typing import Any

_TYPES = {"string", "number", "integer", "boolean", "array", "object", "null"}
_PYTHON = {"str": "string", "float": "number", "int": "integer", "bool": "boolean"}
_PYTHON |= {"list": "array", "dict": "object"}
_CHOICES = ("anyOf", "oneOf", "allOf", "enum")  # what a schema without a type may consist of


def real_schema(given: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON schema, also from what ALMA's manual calls one: a mapping from fields to schemas.

    Such a mapping says nothing to a validator, so all of ALMA's replies fitted. Here each field
    that is given must fit, and as there, none must be given.
    """
    if _is_schema(given):
        return _mended(given)
    fields = dict(given)
    required = fields.pop("required") if isinstance(fields.get("required"), list) else []
    return _mended({"type": "object", "properties": fields, "required": required})


def _is_schema(given: Mapping[str, Any]) -> bool:
    fields = given.get("properties")
    return (
        isinstance(given.get("type"), str | list)
        or any(isinstance(given.get(word), list) for word in _CHOICES)
        or (isinstance(fields, Mapping) and all(isinstance(v, Mapping) for v in fields.values()))
    )


def _mended(given: Mapping[str, Any]) -> dict[str, Any]:
    """What a validator understands of a schema; the rest was never held against a reply."""
    kept = {word: keep(given[word]) for word, keep in _WORDS.items() if word in given}
    return {word: value for word, value in kept.items() if value is not None}


def _field(given: Any) -> Any:
    if isinstance(given, Mapping):
        return _mended(given)
    return given if isinstance(given, bool) else {"description": str(given)}


def _types(given: Any) -> str | list[str] | None:
    """Python's names for types are understood; what is no type is left out."""
    names = given if isinstance(given, list) else [given]
    known = [_PYTHON.get(str(name), str(name)) for name in names]
    known = list(dict.fromkeys(name for name in known if name in _TYPES))
    if not known:
        return None
    return known if isinstance(given, list) else known[0]


def _words(given: Any) -> str | None:
    return given if isinstance(given, str) else None


def _values(given: Any) -> list[Any] | None:
    return given if isinstance(given, list) and given else None


def _names(given: Any) -> list[str] | None:
    """`required: true` says nothing about the fields of a field."""
    if not isinstance(given, list):
        return None
    return list(dict.fromkeys(name for name in given if isinstance(name, str))) or None


def _number(given: Any) -> float | None:
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    return given if is_number else None


def _count(given: Any) -> int | None:
    return given if isinstance(given, int) and not isinstance(given, bool) and given >= 0 else None


def _fields(given: Any) -> dict[str, Any] | None:
    return {n: _field(f) for n, f in given.items()} if isinstance(given, Mapping) else None


def _either(given: Any) -> list[Any] | None:
    return [_field(part) for part in given] if isinstance(given, list) and given else None


def _inner(given: Any) -> Any:
    return _field(given) if isinstance(given, Mapping | bool) else None


_WORDS: dict[str, Callable[[Any], Any]] = {
    "type": _types,
    "title": _words,
    "description": _words,
    "enum": _values,
    "properties": _fields,
    "required": _names,
    "additionalProperties": _inner,
    "items": _inner,
    "anyOf": _either,
    "oneOf": _either,
    "allOf": _either,
    "minimum": _number,
    "maximum": _number,
    "minItems": _count,
    "maxItems": _count,
    "minLength": _count,
    "maxLength": _count,
}
