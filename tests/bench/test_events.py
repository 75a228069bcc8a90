"""Events at a rate, and kills at random moments: short here, long in the bench."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from bench.events import measure
from bench.events_killed import _looked_at, killed
from bench.events_world import begun, point, session

from metamem.service.attach import control
from metamem.service.database import FILE
from tests.service.attach.living import until

pytestmark = pytest.mark.slow


def test_no_event_and_no_call_is_lost_at_a_rate() -> None:
    found = measure(0.05, 3000)
    assert (found["events_lost"], found["calls_lost"], found["kept"]["doubled"]) == (0, 0, 0)
    assert found["same_daemon"] and found["daemon"]["failed"] == 0
    assert found["calls_written"] > 100 and found["kept"]["failures_doubled"] == 0
    assert found["kept"]["most_times"] <= 2


def test_kills_lose_nothing_and_double_nothing() -> None:
    assert killed(4, seed=3).wrong == ()


def test_what_is_lost_would_be_found_out(tmp_path: Path) -> None:
    meeting = begun(tmp_path)
    one = session("claude-code", tmp_path, "s1", 1)
    one.goal("Run the tests of the parser.")
    one.call("pytest -q", "sh: pytest: command not found", 127)
    one.call("uv run pytest -q", "3 passed", 0)
    point(meeting, one)
    control.start(meeting)
    try:
        assert until(lambda: (control.status(meeting) or {"calls": 0})["calls"] == 2)
        assert _looked_at(meeting, [one]) == []
        with closing(sqlite3.connect(meeting.memories / FILE)) as there, there:
            there.execute("DELETE FROM calls WHERE id LIKE '%0001'")
        assert any("calls: 1, not 2" in line for line in _looked_at(meeting, [one]))
    finally:
        control.stop(meeting)
