"""Helpers for dictionaries. None of them changes what it is given."""

from collections.abc import Callable
from typing import Any


def merge(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    """Both together, inner dictionaries as well; the right one wins."""
    result = dict(left)
    for key, value in right.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merge(result[key], value)
        else:
            result[key] = value
    return result


def invert(mapping: dict[str, str]) -> dict[str, list[str]]:
    """Each value with the keys that have it, sorted."""
    result: dict[str, list[str]] = {}
    for key, value in mapping.items():
        result.setdefault(value, []).append(key)
    return {value: sorted(keys) for value, keys in result.items()}


def group_by(items: list[Any], key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    groups: dict[Any, list[Any]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def dig(data: Any, path: str, default: Any = None) -> Any:
    """What lies at a path like a.b.c, or the default."""
    for part in path.split("."):
        if not isinstance(data, dict) or part not in data:
            return default
        data = data[part]
    return data


def pick(data: dict[str, Any], keys: list[str]) -> dict[str, Any]:
    """Only these keys, where they are there."""
    return {key: data[key] for key in keys if key in data}


def omit(data: dict[str, Any], keys: list[str]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in keys}


def sort_by_value(data: dict[str, int]) -> list[tuple[str, int]]:
    """The largest value first; equal ones by key."""
    return sorted(data.items(), key=lambda item: (-item[1], item[0]))


def count_items(items: list[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for item in items:
        counts[item] = counts.get(item, 0) + 1
    return counts
