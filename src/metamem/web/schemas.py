"""JSON schemas of the service's words, made from the same types that the codec reads."""

import types
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, Literal, Union, get_args, get_origin

from metamem.core.access import Scope
from metamem.service import wire

Schema = dict[str, Any]


def schema(kind: Any, known: dict[str, Schema], name: str = "") -> Schema:
    """The schema of a type. Objects are entered in `known`, and referred to."""
    origin = get_origin(kind)
    if kind is Any:
        return {}
    if kind is Scope:
        return {"type": "string", "example": "acme/project/webshop"}
    if is_dataclass(kind):
        return _reference(kind, known)
    if origin in (Union, types.UnionType):
        (inner,) = (each for each in get_args(kind) if each is not type(None))
        return {"anyOf": [schema(inner, known, name), {"type": "null"}]}
    if origin is Literal:
        return {"type": "string", "enum": list(get_args(kind))}
    if origin in (tuple, list):
        (of, *_) = get_args(kind)
        most = wire.MOST_ITEMS if is_dataclass(of) else wire.MOST_NAMES
        return {"type": "array", "items": schema(of, known), "maxItems": most}
    if origin in (dict, Mapping):
        return {"type": "object"}
    return _plain(kind, name)


def properties(kind: Any, known: dict[str, Schema]) -> dict[str, Schema]:
    """The fields of a dataclass, each with its default where that can be said."""
    made = {}
    for name, hint in wire.field_types(kind).items():
        made[name] = schema(hint, known, name)
        default = wire.encode(kind.__dataclass_fields__[name].default)
        if isinstance(default, str | int | float | bool | list):
            made[name]["default"] = default
    return made


def _reference(kind: Any, known: dict[str, Schema]) -> Schema:
    name = kind.__name__
    if name not in known:
        known[name] = {}  # types may hold themselves
        known[name] = {
            "type": "object",
            "description": (kind.__doc__ or "").split("\n\n")[0],
            "properties": properties(kind, known),
            "required": wire.needed(kind),
        }
        if kind.__doc__.startswith(f"{name}("):  # made up by dataclass
            del known[name]["description"]
    return {"$ref": f"#/components/schemas/{name}"}


def _plain(kind: Any, name: str) -> Schema:
    if kind is int:
        low, high = (wire.FIRST, wire.LAST) if name in wire.TIMES else (-wire.LARGEST, wire.LARGEST)
        made: Schema = {"type": "integer", "minimum": low, "maximum": high}
        if name in wire.TIMES or name.endswith("_at"):
            made["description"] = "milliseconds since 1970, UTC"
        return made
    return {"type": {str: "string", float: "number", bool: "boolean"}[kind]}
