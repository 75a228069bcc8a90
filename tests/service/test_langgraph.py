"""LangGraph's store over a memory service: what its own in-memory store does, this does."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from metamem.core.errors import UsageError
from metamem.service.connecting import connect
from metamem.service.langgraph import MemoryStore, _labels, _name

USERS = ("users", "ada@example-org")
SECRET = "AKIA" + "IOSFODNN7EXAMPLF"


def until(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with connect(tmp_path) as memories:
        yield MemoryStore(memories)


def script(store: BaseStore) -> list[Any]:
    """Calls whose results can be compared: times are left out."""
    seen: list[Any] = []

    def note(result: Any) -> None:
        items = result if isinstance(result, list) else [result]
        seen.append([(i.namespace, i.key, i.value) if hasattr(i, "key") else i for i in items])

    note(store.get(USERS, "tea"))
    store.put(USERS, "tea", {"likes": "Green tea", "cups": 2})
    store.put(USERS, "Tea", {"likes": "green tea", "cups": 2})
    store.put((*USERS, "日本"), "city", {"name": "東京", "size": {"people": 14}})
    store.put(("docs", "a+b", "x"), "1", {"text": "one", "cups": 3})
    note(store.get(USERS, "tea"))
    note(store.get(USERS, "Tea"))
    store.put(USERS, "tea", {"likes": "GREEN TEA", "cups": 2})
    note(store.get(USERS, "tea"))
    note(sorted(store.search(("users",)), key=lambda i: (i.namespace, i.key)))
    note(store.search(("docs",), filter={"cups": {"$gte": 3}}))
    note(store.search(("users",), filter={"size": {"people": 14}}))
    note(store.search(("nobody",)))
    note(store.list_namespaces())
    note(store.list_namespaces(prefix=("users",), max_depth=2))
    note(store.list_namespaces(suffix=("*", "x")))
    note(store.list_namespaces(limit=1, offset=1))
    store.delete(USERS, "tea")
    store.delete(USERS, "never there")
    note(store.get(USERS, "tea"))
    store.put(USERS, "tea", {"likes": "black tea"})
    note(store.get(USERS, "tea"))
    return seen


def test_it_does_what_langgraphs_own_does(store: MemoryStore) -> None:
    assert script(store) == script(InMemoryStore())


def test_search_finds_what_is_meant(store: MemoryStore) -> None:
    store.put(("notes",), "1", {"text": "The login test needs the clock in UTC."})
    store.put(("notes",), "2", {"text": "Lunch is at noon in the canteen."})
    first = store.search(("notes",), query="why does the login test fail", limit=1)[0]
    assert first.key == "1" and first.score is not None


def test_the_only_item_of_a_namespace_is_found_by_its_meaning(store: MemoryStore) -> None:
    store.put(("users", "ada"), "tea", {"likes": "green tea"})
    until(lambda: bool(store.search(("users",), query="what does Ada drink?")))
    assert store.search(("users",), query="which tea does Ada like?")[0].key == "tea"


def test_what_is_not_kept_as_it_was_put_is_told(
    store: MemoryStore, caplog: pytest.LogCaptureFixture
) -> None:
    store.put(("notes",), "1", {"text": "plain words"})
    assert not caplog.records
    store.put(("notes",), "1", {"text": "the bucket's key is " + SECRET, "picture": "QUJD" * 2000})
    item = store.get(("notes",), "1")
    assert item is not None and item.value["picture"] == "[data]"
    (told,) = caplog.messages
    assert "aws key" in told and "runs of data" in told and SECRET not in told


def test_times_and_history_are_kept(store: MemoryStore) -> None:
    store.put(("notes",), "1", {"text": "first"})
    before = store.get(("notes",), "1")
    store.put(("notes",), "1", {"text": "second"})
    after = store.get(("notes",), "1")
    assert before and after
    assert after.created_at == before.created_at and after.updated_at >= before.updated_at


async def test_awaited(store: MemoryStore) -> None:
    await store.aput(("notes",), "1", {"text": "awaited"})
    found = await store.aget(("notes",), "1")
    assert found is not None and found.value == {"text": "awaited"}
    assert [item.key for item in await store.asearch(("notes",))] == ["1"]
    assert await store.alist_namespaces() == [("notes",)]
    await store.adelete(("notes",), "1")
    assert await store.aget(("notes",), "1") is None


def test_what_cannot_be_kept_is_refused(store: MemoryStore) -> None:
    for value in ({"n": float("nan")}, {"o": object()}, {"long": "many words " * 2000}):
        with pytest.raises(UsageError):
            store.put(("notes",), "1", value)
    assert store.get(("notes",), "1") is None


@given(
    st.lists(st.text(min_size=1, max_size=8).filter(lambda t: "." not in t), min_size=1, max_size=4)
)
def test_names_of_namespaces_can_be_read_back(labels: list[str]) -> None:
    namespace = tuple(label.encode("utf-8", "replace").decode() for label in labels)
    assert _labels(_name(namespace)) == namespace
