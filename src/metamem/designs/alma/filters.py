"""Chroma's little language for choosing entries, by metadata and by text."""

from collections.abc import Callable, Mapping
from typing import Any

Where = Mapping[str, Any]

_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": lambda have, want: have > want,
    "$gte": lambda have, want: have >= want,
    "$lt": lambda have, want: have < want,
    "$lte": lambda have, want: have <= want,
}


def chosen(metadata: Mapping[str, Any], where: Where | None) -> bool:
    """Does the metadata fit? Several conditions must be joined by `$and` or `$or`, as in Chroma."""
    if not where:
        return True
    key, want = _only(where, "where")
    if key in ("$and", "$or"):
        return _joined(key, want, lambda part: chosen(metadata, part))
    if not isinstance(want, Mapping):
        return _equal(metadata.get(key), want)
    operator, value = _only(want, "operator expression")
    have = metadata.get(key)
    if operator in ("$eq", "$ne"):
        return _equal(have, value) == (operator == "$eq")
    if operator in ("$in", "$nin"):
        return any(_equal(have, each) for each in value) == (operator == "$in")
    if operator in _ORDER:
        return _is_number(have) and _is_number(value) and _ORDER[operator](have, value)
    raise ValueError(f"there is no where operator {operator}")


def said(document: str, where: Where | None) -> bool:
    """Does the text fit?"""
    if not where:
        return True
    key, want = _only(where, "where document")
    if key in ("$and", "$or"):
        return _joined(key, want, lambda part: said(document, part))
    if key in ("$contains", "$not_contains"):
        return (want in document) == (key == "$contains")
    raise ValueError(f"there is no where document operator {key}")


def _only(where: Where, what: str) -> tuple[str, Any]:
    if len(where) != 1:
        raise ValueError(f"Expected {what} to have exactly one operator, got {dict(where)}")
    return next(iter(where.items()))


def _joined(word: str, parts: list[Where], fits: Callable[[Where], bool]) -> bool:
    return all(map(fits, parts)) if word == "$and" else any(map(fits, parts))


def _equal(have: Any, want: Any) -> bool:
    """True and 1 are two things here."""
    return isinstance(have, bool) == isinstance(want, bool) and bool(have == want)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
