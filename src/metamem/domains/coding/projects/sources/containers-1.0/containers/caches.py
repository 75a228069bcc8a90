"""Containers with a limit."""

from typing import Any


class LastUsed:
    """Keeps a number of values and drops the one that was not used for longest."""

    def __init__(self, limit: int = 2) -> None:
        if limit < 1:
            raise ValueError("limit must be positive")
        self.limit = limit
        self.values: dict[str, Any] = {}

    def put(self, key: str, value: Any) -> None:
        if key in self.values:
            del self.values[key]
        elif len(self.values) >= self.limit:
            oldest = next(iter(self.values))
            del self.values[oldest]
        self.values[key] = value

    def get(self, key: str, default: Any = None) -> Any:
        if key not in self.values:
            return default
        value = self.values.pop(key)
        self.values[key] = value
        return value

    def keys(self) -> list[str]:
        """The keys, last used first."""
        return list(reversed(self.values))


class Ring:
    """The last items of a stream."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.items: list[Any] = []

    def add(self, item: Any) -> None:
        self.items.append(item)
        if len(self.items) > self.size:
            self.items.pop(0)

    def last(self, count: int = 1) -> list[Any]:
        """The newest items, newest first."""
        if count < 1:
            return []
        return self.items[-count:][::-1]

    def snapshot(self) -> list[Any]:
        """The items, oldest first, as a list of its own."""
        return list(self.items)


class Waiting:
    """A queue: the smallest number first, then who came first."""

    def __init__(self) -> None:
        self.entries: list[tuple[int, int, Any]] = []
        self.count = 0

    def push(self, item: Any, number: int = 0) -> None:
        self.entries.append((number, self.count, item))
        self.count += 1

    def pop(self) -> Any:
        if not self.entries:
            raise IndexError("nobody is waiting")
        first = min(self.entries, key=lambda entry: entry[:2])
        self.entries.remove(first)
        return first[2]

    def __len__(self) -> int:
        return len(self.entries)
