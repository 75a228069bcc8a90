import pytest
from taskboard.model import ACTIVE, DONE, Task
from taskboard.plain import from_line, summary, to_line


def test_to_line():
    assert to_line(Task(2, "Buy milk")) == "[ ] 2 Buy milk"


def test_to_line_with_everything():
    task = Task(2, "Buy milk", 1, DONE, 5, ["shop", "home"])
    assert to_line(task) == "[x] 2 Buy milk !1 @5 #home #shop"


def test_to_line_day_zero():
    assert to_line(Task(1, "a", due=0, state=ACTIVE)) == "[~] 1 a @0"


def test_from_line():
    task = from_line("[x] 2 Buy milk !1 @5 #home")
    assert (task.number, task.title, task.priority) == (2, "Buy milk", 1)
    assert (task.due, task.tags, task.state) == (5, ["home"], DONE)


def test_from_line_with_spaces_and_capitals():
    task = from_line("  [X] 1 a  b ")
    assert task.state == DONE
    assert task.title == "a b"


def test_from_line_defaults():
    task = from_line("[ ] 1 a")
    assert task.priority == 3
    assert task.due is None


def test_from_line_refuses_other_text():
    for line in ("", "[ ]", "(x) 1 a", "[xx 1 a"):
        with pytest.raises(ValueError, match="not a task"):
            from_line(line)


def test_there_and_back():
    line = "[~] 12 Call the bank !2 @30 #money #phone"
    assert to_line(from_line(line)) == line


def test_summary():
    assert summary([Task(1, "a"), Task(2, "b", state=DONE), Task(3, "c")]) == "2 open, 1 done"


def test_summary_of_nothing():
    assert summary([]) == "no tasks"
