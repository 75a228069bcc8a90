"""What a model is to answer when it reflects and plans. All fields are needed, all are text."""

from collections.abc import Mapping
from typing import Any

TEXT: Mapping[str, Any] = {"type": "string"}


def _one_of(*words: str) -> Mapping[str, Any]:
    return {"type": "string", "enum": list(words)}


def _object(**fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _list(of: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


REFLECTION = _object(
    helped=_list(TEXT),
    hurt=_list(TEXT),
    advice=_list(
        _object(
            task=TEXT,
            judgement=_one_of("useful", "could be useful", "irrelevant", "misleading", "empty"),
            why=TEXT,
        )
    ),
    changes=_list(_object(priority=_one_of("high", "medium", "low"), what=TEXT, why=TEXT)),
)
PLAN = _object(
    summary=TEXT, changes=_list(_object(what=TEXT, why=TEXT, expected=TEXT)), kept=_list(TEXT)
)
