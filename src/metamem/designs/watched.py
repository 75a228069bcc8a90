"""A query that knows which parts of it were read: what was not read cannot change the answer."""

from typing import Any, ClassVar

from metamem.core.types import Query

PARTS = frozenset(Query.__slots__)


class WatchedQuery(Query):
    """A query for a copy of a memory, which is asked once and thrown away."""

    __slots__ = ()
    __qualname__ = "Query"  # as it is shown
    parts_read: ClassVar[set[str]] = set()  # of whatever query this process was given last

    @classmethod
    def of(cls, query: Query) -> "WatchedQuery":
        cls.parts_read.clear()
        return cls(*(getattr(query, part) for part in Query.__slots__))

    def __getattribute__(self, name: str) -> Any:
        if name in PARTS:
            WatchedQuery.parts_read.add(name)
        return super().__getattribute__(name)
