from containers.dicts import count_items, dig, group_by, invert, merge, omit, pick, sort_by_value


def test_merge():
    assert merge({"a": 1}, {"b": 2}) == {"a": 1, "b": 2}


def test_merge_right_wins():
    assert merge({"a": 1}, {"a": 2}) == {"a": 2}


def test_merge_inner():
    assert merge({"a": {"x": 1, "y": 1}}, {"a": {"y": 2}}) == {"a": {"x": 1, "y": 2}}
    assert merge({"a": 1}, {"a": {"y": 2}}) == {"a": {"y": 2}}


def test_merge_leaves_both_alone():
    left = {"a": {"x": 1}}
    merge(left, {"a": {"y": 2}, "b": 3})
    assert left == {"a": {"x": 1}}


def test_invert():
    assert invert({"b": "x", "a": "x", "c": "y"}) == {"x": ["a", "b"], "y": ["c"]}


def test_group_by():
    assert group_by([1, 2, 3, 4], lambda x: x % 2) == {1: [1, 3], 0: [2, 4]}


def test_dig():
    assert dig({"a": {"b": 1}}, "a.b") == 1


def test_dig_default():
    assert dig({"a": {"b": 1}}, "a.c", 0) == 0
    assert dig({"a": 1}, "a.b", "none") == "none"
    assert dig({}, "a") is None


def test_pick():
    assert pick({"a": 1, "b": 2}, ["a", "z"]) == {"a": 1}


def test_omit():
    assert omit({"a": 1, "b": 2}, ["a", "z"]) == {"b": 2}


def test_sort_by_value():
    assert sort_by_value({"a": 1, "b": 3}) == [("b", 3), ("a", 1)]


def test_sort_by_value_of_equals():
    assert sort_by_value({"z": 2, "m": 2, "a": 1}) == [("m", 2), ("z", 2), ("a", 1)]


def test_count_items():
    assert count_items(["a", "b", "a"]) == {"a": 2, "b": 1}
