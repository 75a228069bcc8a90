import pytest
from taskboard.model import Task
from taskboard.plan import heaviest, order, weight, workload


def test_order():
    tasks = [Task(1, "a", needs=[3]), Task(2, "b"), Task(3, "c", needs=[2])]
    assert order(tasks) == [2, 3, 1]


def test_order_small_numbers_first():
    assert order([Task(3, "c"), Task(1, "a"), Task(2, "b")]) == [1, 2, 3]


def test_order_ignores_needs_from_elsewhere():
    assert order([Task(1, "a", needs=[9])]) == [1]


def test_order_of_a_circle():
    with pytest.raises(ValueError):
        order([Task(1, "a", needs=[2]), Task(2, "b", needs=[1])])


def test_workload():
    assert workload([Task(n, "x") for n in range(4)]) == 2
    assert workload([]) == 0


def test_workload_counts_begun_days():
    assert workload([Task(n, "x") for n in range(5)]) == 3
    assert workload([Task(1, "x")], per_day=4) == 1


def test_workload_needs_a_pace():
    assert workload([Task(1, "x"), Task(2, "x")], per_day=1) == 2
    with pytest.raises(ValueError):
        workload([], per_day=0)


def test_weight():
    assert weight(Task(1, "x", 1), today=1) == 5
    assert weight(Task(1, "x", 5), today=1) == 1


def test_weight_when_due_soon():
    assert weight(Task(1, "x", 3, due=8), today=1) == 6
    assert weight(Task(1, "x", 3, due=9), today=1) == 3
    assert weight(Task(1, "x", 3, due=9), today=1, urgent=8) == 6


def test_heaviest():
    tasks = [Task(1, "a", 5), Task(2, "b", 1), Task(3, "c", 1), Task(4, "d", 4)]
    assert heaviest(tasks, today=0) == [2, 3, 4]
    assert heaviest(tasks, today=0, count=1) == [2]
