"""A memory service as LangGraph's store. Needs `metamem[langgraph]`.

Each namespace is a scope of the kind `langgraph`, each item a fact in it. So access, history,
audit and erasure are those of the service, and so are its rules: secrets are taken out, an item is
at most some thousand characters long, and what is put again supersedes what was there.
"""

import asyncio
import json
import logging
import operator
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from metamem.core.access import Scope
from metamem.core.errors import DataError, UsageError
from metamem.core.ids import content_id
from metamem.service.administers import Connected
from metamem.service.database import now_ms
from metamem.service.words import Ask, Draft, Fact, Listing

_log = logging.getLogger(__name__)  # `put` returns nothing by which a caller could be told
KIND = "langgraph"
PAGE = 500
TOKENS = 1_000_000  # the budget is the limit of the search alone
_FIRST = "ns."  # before the labels: a scope's name must not begin with a sign
_KEPT = re.compile(r"[A-Za-z0-9_-]")
_CODED = re.compile(r"\+([0-9a-f]{2})")
_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}

Namespace = tuple[str, ...]


class MemoryStore(BaseStore):
    """LangGraph's `BaseStore` over `metamem.connect()`. Closing the connection is the caller's."""

    __slots__ = ("_memories", "_tenant", "_writable")

    def __init__(self, memories: Connected) -> None:
        self._memories = memories
        self._tenant = memories.administration.me().tenant
        self._writable: set[str] = set()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return [self._done(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _done(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            found = self._find(op.namespace, op.key)
            return None if found is None else _item(found)
        if isinstance(op, PutOp):
            self._put(op)
            return None
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces_of(op)
        raise UsageError(f"{type(op).__name__} is nothing that this store can do")

    # --- one item ----------------------------------------------------------------------------

    def _find(self, namespace: Namespace, key: str) -> Fact | None:
        scope = self._scope(namespace)
        if scope not in self._memories.administration.me().reads:
            return None
        page = self._memories.browse(Listing((scope,), entity=_mark(key), limit=PAGE))
        for fact in reversed(page.facts):
            if _content(fact)["key"] == key:
                return fact
        return None

    def _put(self, op: PutOp) -> None:
        if op.ttl is not None:
            raise UsageError("items of this store do not end by themselves", hint="leave ttl out")
        before = self._find(op.namespace, op.key)
        if op.value is None:
            if before is not None:
                self._memories.forget(before.id, "deleted by LangGraph")
            return
        made = _content(before)["made"] if before else now_ms()
        content = {"value": op.value, "key": op.key, "made": made, "put": time.time_ns()}
        try:
            text = json.dumps(content, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise UsageError(f"the value of {op.key!r} is not JSON: {error}") from None
        draft = Draft(
            text,
            "note",
            origin=KIND,
            entities=(_mark(op.key),),
            supersedes=before.id if before else "",
        )
        (written,) = self._memories.remember(self._made(op.namespace), [draft])
        if written.outcome != "stored":
            raise UsageError(f"{op.key!r} was not stored: {written.reason}")
        if changed := [*written.redacted, *([written.reason] if written.reason else [])]:
            _log.warning("an item is not kept as it was put (%s)", "; ".join(changed))

    # --- many --------------------------------------------------------------------------------

    def _search(self, op: SearchOp) -> list[SearchItem]:
        scopes = tuple(
            self._scope(each)
            for each in self._namespaces()
            if each[: len(op.namespace_prefix)] == tuple(op.namespace_prefix)
        )
        if not scopes:
            return []
        wanted = op.offset + op.limit
        found: list[SearchItem] = []
        for fact, score in self._ranked(op.query, scopes, wanted if not op.filter else 200):
            item = _item(fact)
            if _matches(item.value, op.filter or {}):
                found.append(SearchItem(**_parts(item), score=score))
            if len(found) == wanted:
                break
        return found[op.offset :]

    def _ranked(
        self, query: str | None, scopes: tuple[str, ...], most: int
    ) -> Iterator[tuple[Fact, float | None]]:
        if query:
            asked = Ask(query, scopes, limit=max(1, most), tokens=TOKENS, floor=0.0)
            yield from ((each.fact, each.score) for each in self._memories.recall(asked).items)
            return
        after = ""
        while True:
            page = self._memories.browse(Listing(scopes, after=after, limit=PAGE))
            yield from ((fact, None) for fact in page.facts)
            after = page.next
            if not after:
                return

    def _namespaces_of(self, op: ListNamespacesOp) -> list[Namespace]:
        found = {
            each[: op.max_depth] if op.max_depth else each
            for each in self._namespaces()
            if all(_fits(condition, each) for condition in op.match_conditions or ())
        }
        return sorted(found)[op.offset : op.offset + op.limit]

    # --- namespaces as scopes ----------------------------------------------------------------

    def _namespaces(self) -> list[Namespace]:
        """Those that hold an item."""
        counts = self._memories.counts()["scopes"]
        names = []
        for text in self._memories.administration.me().reads:
            scope = Scope.parse(text)
            if scope.kind == KIND and counts.get(text, {}).get("lifecycle", {}).get("active"):
                names.append(_labels(scope.name))
        return names

    def _scope(self, namespace: Namespace) -> str:
        return str(Scope(self._tenant, KIND, _name(namespace)))

    def _made(self, namespace: Namespace) -> str:
        scope = self._scope(namespace)
        if scope not in self._writable:
            if scope not in self._memories.administration.me().writes:
                self._memories.administration.add_scope(scope)
            self._writable.add(scope)
        return scope


def _name(namespace: Namespace) -> str:
    """The name of a namespace's scope; no two have the same."""
    labels = (
        "".join(c if _KEPT.match(c) else "".join(f"+{b:02x}" for b in c.encode()) for c in label)
        for label in namespace
    )
    return _FIRST + ".".join(labels)


def _labels(name: str) -> Namespace:
    raw = (label.encode() for label in name.removeprefix(_FIRST).split("."))
    coded = re.compile(_CODED.pattern.encode())
    return tuple(coded.sub(lambda m: bytes([int(m[1], 16)]), each).decode() for each in raw)


def _mark(key: str) -> str:
    """What an item is found by."""
    return f"item-{content_id(key)}"


def _content(fact: Fact) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(fact.text)
        if {"key", "value", "made"} <= content.keys():
            return content
    except (ValueError, AttributeError):
        pass
    raise DataError(f"{fact.id} is no item of LangGraph's")


def _item(fact: Fact) -> Item:
    content = _content(fact)
    return Item(
        value=content["value"],
        key=content["key"],
        namespace=_labels(Scope.parse(fact.scope).name),
        created_at=_time(content["made"]),
        updated_at=_time(fact.created_at),
    )


def _parts(item: Item) -> dict[str, Any]:
    return {name: getattr(item, name) for name in Item.__slots__}


def _time(at: int) -> datetime:
    return datetime.fromtimestamp(at / 1000, UTC)


def _matches(value: Any, wanted: Any) -> bool:
    """Whether a value has what a filter names; `$gt` and its kind compare."""
    if isinstance(wanted, dict) and wanted and all(str(name).startswith("$") for name in wanted):
        return all(_compares(value, name, other) for name, other in wanted.items())
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(
            _matches(value.get(name), other) for name, other in wanted.items()
        )
    return bool(value == wanted)


def _compares(value: Any, name: str, other: Any) -> bool:
    if name not in _COMPARED:
        raise UsageError(f"no comparison is called {name!r}", hint=f"known: {', '.join(_COMPARED)}")
    try:
        return _COMPARED[name](value, other)
    except TypeError:  # of different kinds: neither is greater
        return False


def _fits(condition: MatchCondition, namespace: Namespace) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)]
    if condition.match_type == "suffix":
        part = namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
