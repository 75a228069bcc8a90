import pytest
from taskboard.model import ACTIVE, DONE, OPEN, Task


def test_new_task():
    task = Task(1, "x")
    assert task.state == OPEN
    assert task.priority == 3
    assert task.tags == []


def test_move():
    task = Task(1, "x")
    task.move(ACTIVE)
    task.move(DONE)
    task.move(OPEN)
    assert task.state == OPEN


def test_done_tasks_do_not_become_active():
    task = Task(1, "x", state=DONE)
    with pytest.raises(ValueError):
        task.move(ACTIVE)


def test_late_after_the_due_day():
    assert Task(1, "x", due=5).is_late(6)
    assert not Task(1, "x", due=5).is_late(5)


def test_done_or_undated_tasks_are_not_late():
    assert not Task(1, "x", due=5, state=DONE).is_late(9)
    assert not Task(1, "x").is_late(9)


def test_tags_ignore_case():
    task = Task(1, "x", tags=["Home"])
    assert task.has_tag("home")
    assert task.has_tag("HOME")
    assert not task.has_tag("work")
