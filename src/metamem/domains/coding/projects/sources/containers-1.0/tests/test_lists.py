import pytest
from containers.lists import (
    binary_search,
    chunked,
    flatten,
    insert_sorted,
    largest,
    pairs,
    partition,
    rotate,
    unique,
    with_default,
)


def test_unique_keeps_the_order():
    assert unique([3, 1, 3, 2, 1]) == [3, 1, 2]


def test_chunked():
    assert chunked([1, 2, 3, 4, 5], 2) == [[1, 2], [3, 4], [5]]
    assert chunked([1, 2], 1) == [[1], [2]]


def test_chunked_needs_a_size():
    with pytest.raises(ValueError, match="positive"):
        chunked([1], 0)


def test_flatten():
    assert flatten([1, [2, 3], [[4]]]) == [1, 2, 3, [4]]


def test_flatten_deeper():
    assert flatten([1, [2, [3, [4]]]], 2) == [1, 2, 3, [4]]


def test_flatten_gives_a_list_of_its_own():
    items = [1, [2]]
    flat = flatten(items, 0)
    flat.append(3)
    assert items == [1, [2]]


def test_rotate():
    assert rotate([1, 2, 3, 4]) == [2, 3, 4, 1]
    assert rotate([1, 2, 3], 5) == [3, 1, 2]


def test_rotate_back():
    assert rotate([1, 2, 3], -1) == [3, 1, 2]


def test_rotate_nothing():
    assert rotate([], 3) == []


def test_partition():
    assert partition([1, 2, 3, 4], lambda x: x % 2 == 0) == ([2, 4], [1, 3])


def test_pairs():
    assert pairs([1, 2, 3]) == [(1, 2), (2, 3)]
    assert pairs([1]) == []


def test_insert_sorted():
    assert insert_sorted([1, 3, 5], 4) == [1, 3, 4, 5]
    assert insert_sorted([], 1) == [1]
    assert insert_sorted([1, 2], 9) == [1, 2, 9]


def test_insert_sorted_after_equals():
    result = insert_sorted([1, 2.0, 3], 2)
    assert [type(x).__name__ for x in result] == ["int", "float", "int", "int"]


def test_insert_sorted_leaves_the_list_alone():
    items = [1, 3]
    insert_sorted(items, 2)
    assert items == [1, 3]


def test_binary_search():
    assert binary_search([1, 3, 5, 7], 5) == 2
    assert binary_search([1, 3, 5, 7], 1) == 0
    assert binary_search([1, 3, 5, 7], 7) == 3


def test_binary_search_of_what_is_not_there():
    assert binary_search([1, 3, 5], 4) == -1
    assert binary_search([], 1) == -1


def test_largest():
    assert largest([3, 9, 4, 7], 2) == [9, 7]
    assert largest([3, 9, 4]) == [9]


def test_with_default():
    assert with_default([1], 2) == [1, 2]
    assert with_default(None, 3) == [3]
    assert with_default() == []


def test_with_default_leaves_the_list_alone():
    items = [1]
    with_default(items, 2)
    assert items == [1]
