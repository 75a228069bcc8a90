"""Helpers for lists. None of them changes what it is given."""

from collections.abc import Callable
from typing import Any


def unique(items: list[Any]) -> list[Any]:
    """The items without repeats, in the order in which they first came."""
    seen = []
    for item in items:
        if item not in seen:
            seen.append(item)
    return seen


def chunked(items: list[Any], size: int) -> list[list[Any]]:
    """Pieces of a size; the last one may be shorter."""
    if size < 1:
        raise ValueError("size must be positive")
    return [items[i : i + size] for i in range(0, len(items), size)]


def flatten(items: list[Any], depth: int = 1) -> list[Any]:
    """The items of inner lists, down to a depth."""
    if depth < 1:
        return list(items)
    flat: list[Any] = []
    for item in items:
        if isinstance(item, list):
            flat.extend(flatten(item, depth - 1))
        else:
            flat.append(item)
    return flat


def rotate(items: list[Any], places: int = 1) -> list[Any]:
    """The items moved to the left; those that fall off come in at the end."""
    if not items:
        return []
    places = places % len(items)
    return items[places:] + items[:places]


def partition(items: list[Any], test: Callable[[Any], bool]) -> tuple[list[Any], list[Any]]:
    """Those that pass a test, and the others."""
    return [x for x in items if test(x)], [x for x in items if not test(x)]


def pairs(items: list[Any]) -> list[tuple[Any, Any]]:
    """Each item with the next."""
    return [(items[i], items[i + 1]) for i in range(len(items) - 1)]


def insert_sorted(items: list[int], item: int) -> list[int]:
    """A sorted list with one more item, after its equals."""
    result = list(items)
    place = 0
    while place < len(result) and result[place] <= item:
        place += 1
    result.insert(place, item)
    return result


def binary_search(items: list[int], wanted: int) -> int:
    """The place of an item in a sorted list, or -1."""
    low, high = 0, len(items) - 1
    while low <= high:
        middle = (low + high) // 2
        if items[middle] == wanted:
            return middle
        if items[middle] < wanted:
            low = middle + 1
        else:
            high = middle - 1
    return -1


def largest(items: list[int], count: int = 1) -> list[int]:
    """The largest items, largest first."""
    return sorted(items, reverse=True)[:count]


def with_default(items: list[Any] | None = None, extra: Any = None) -> list[Any]:
    """A list of its own, with one more item if there is one."""
    result = list(items) if items is not None else []
    if extra is not None:
        result.append(extra)
    return result
