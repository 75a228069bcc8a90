import pytest
from containers.caches import LastUsed, Ring, Waiting


def test_last_used_keeps_values():
    cache = LastUsed()
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    assert cache.get("b") == 2


def test_last_used_drops_the_oldest():
    cache = LastUsed(2)
    for key in "abc":
        cache.put(key, key)
    assert cache.get("a") is None
    assert cache.get("c") == "c"
    assert len(cache.values) == 2


def test_last_used_counts_reading():
    cache = LastUsed(2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.get("a")
    cache.put("c", 3)
    assert cache.keys() == ["c", "a"]


def test_last_used_same_key_again():
    cache = LastUsed(2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.put("a", 3)
    assert cache.keys() == ["a", "b"]
    assert cache.get("a") == 3


def test_last_used_default():
    assert LastUsed(1).get("x", 7) == 7


def test_last_used_needs_a_limit():
    assert LastUsed(1).limit == 1
    with pytest.raises(ValueError):
        LastUsed(0)


def test_ring_keeps_the_last():
    ring = Ring(2)
    for item in (1, 2, 3):
        ring.add(item)
    assert ring.items == [2, 3]


def test_ring_last():
    ring = Ring(3)
    for item in (1, 2, 3, 4):
        ring.add(item)
    assert ring.last() == [4]
    assert ring.last(2) == [4, 3]


def test_ring_last_of_none():
    ring = Ring(2)
    ring.add(1)
    assert ring.last(0) == []


def test_ring_snapshot_is_its_own():
    ring = Ring(2)
    ring.add(1)
    ring.snapshot().append(5)
    assert ring.items == [1]


def test_waiting_smallest_first():
    queue = Waiting()
    queue.push("late", 5)
    queue.push("early", 1)
    first = queue.pop()
    assert first == "early"
    assert len(queue) == 1


def test_waiting_equals_in_order():
    queue = Waiting()
    for name in ("x", "b", "a"):
        queue.push(name)
    names = [queue.pop() for _ in range(3)]
    assert names == ["x", "b", "a"]


def test_waiting_default_number():
    queue = Waiting()
    queue.push("one", 1)
    queue.push("plain")
    first = queue.pop()
    assert first == "plain"


def test_waiting_nobody():
    with pytest.raises(IndexError, match="waiting"):
        Waiting().pop()
