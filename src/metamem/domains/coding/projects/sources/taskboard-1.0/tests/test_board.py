import pytest
from taskboard.board import Board
from taskboard.model import ACTIVE, DONE, OPEN


def titles(tasks):
    return [task.title for task in tasks]


def test_add_numbers_tasks():
    board = Board()
    first, second = board.add("a"), board.add("b")
    assert (first.number, second.number) == (1, 2)


def test_add_trims_the_title():
    assert Board().add("  a ").title == "a"


def test_add_defaults():
    task = Board().add("a")
    assert (task.priority, task.due, task.tags, task.needs) == (3, None, [], [])


def test_add_needs_a_title():
    with pytest.raises(ValueError):
        Board().add("  ")


def test_add_checks_the_priority():
    assert Board().add("a", 1).priority == 1
    assert Board().add("a", 5).priority == 5
    with pytest.raises(ValueError):
        Board().add("a", 0)
    with pytest.raises(ValueError):
        Board().add("a", 6)


def test_add_copies_the_tags():
    tags = ["x"]
    task = Board().add("a", tags=tags)
    tags.append("y")
    assert task.tags == ["x"]


def test_get_unknown():
    with pytest.raises(KeyError, match="no task 7"):
        Board().get(7)


def test_start_and_finish():
    board = Board()
    board.add("a")
    board.start(1)
    assert board.get(1).state == ACTIVE
    board.finish(1)
    assert board.get(1).state == DONE


def test_only_so_many_active():
    board = Board(most_active=2)
    for title in "abc":
        board.add(title)
    board.start(1)
    board.start(2)
    with pytest.raises(ValueError, match="many"):
        board.start(3)


def test_three_active_by_default():
    board = Board()
    for title in "abcd":
        board.add(title)
    for number in (1, 2, 3):
        board.start(number)
    with pytest.raises(ValueError):
        board.start(4)


def test_blocked_tasks_do_not_start():
    board = Board()
    board.add("a")
    board.add("b", needs=[1])
    assert board.blockers(2) == [1]
    with pytest.raises(ValueError, match="blocked"):
        board.start(2)
    board.finish(1)
    board.start(2)
    assert board.blockers(2) == []


def test_with_state():
    board = Board()
    board.add("a")
    board.add("b")
    board.finish(2)
    assert titles(board.with_state(OPEN)) == ["a"]
    assert titles(board.with_state(DONE)) == ["b"]


def test_with_tag():
    board = Board()
    board.add("a", tags=["Home"])
    board.add("b")
    assert titles(board.with_tag("home")) == ["a"]


def test_search():
    board = Board()
    board.add("Buy Milk")
    board.add("Sell car")
    assert titles(board.search("milk")) == ["Buy Milk"]
    assert titles(board.search(" BUY ")) == ["Buy Milk"]
    assert board.search("bread") == []


def test_late_tasks_in_order():
    board = Board()
    board.add("b", due=4)
    board.add("a", due=2)
    board.add("c", due=9)
    assert titles(board.late(5)) == ["a", "b"]


def test_agenda_by_priority():
    board = Board()
    board.add("low", 5)
    board.add("high", 1)
    board.add("done", 1)
    board.finish(3)
    assert titles(board.agenda()) == ["high", "low"]


def test_agenda_by_due_day():
    board = Board()
    board.add("never")
    board.add("late", due=9)
    board.add("soon", due=2)
    assert titles(board.agenda()) == ["soon", "late", "never"]


def test_progress():
    board = Board()
    for title in "abcd":
        board.add(title)
    board.finish(1)
    assert board.progress() == 25


def test_progress_of_nothing():
    assert Board().progress() == 0


def test_reopen_all():
    board = Board()
    for title in "abc":
        board.add(title)
    board.finish(1)
    board.finish(3)
    count = board.reopen_all()
    assert count == 2
    assert len(board.with_state(OPEN)) == 3
