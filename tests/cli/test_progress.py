"""Progress for people: what it says of speed and time left."""

import io

import pytest
from rich.console import Console

from metamem.cli import progress
from metamem.cli.progress import Lines, Live, duration, watcher
from metamem.core import stopwatch


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "0 s"),
        (59.4, "59 s"),
        (61, "1 min 1 s"),
        (600, "10 min"),
        (3600, "1 h"),
        (7320, "2 h 2 min"),
    ],
)
def test_durations(seconds, words):
    assert duration(seconds) == words


def test_a_line_for_each_phase_where_nobody_watches(capsys):
    with watcher(quiet=False) as watch:
        assert isinstance(watch, Lines)
        watch.phase("searching", 3)
        for _ in range(3):
            watch.cases(5)
            watch.advance()
        watch.phase("deciding")
        watch.note("a remark")
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    assert lines[0] == "searching (3)"
    assert lines[1].startswith("searching: done in 0 s")
    assert lines[2:4] == ["deciding", "a remark"]


def test_a_line_now_and_then_in_a_long_phase(capsys, monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    watch = Lines()
    watch.phase("searching", 4)
    watch.cases(2)
    watch.advance()
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("searching: 1 of 4, ") and last.endswith(" left")


def test_waiting_for_somebody_counts_neither_as_time_used_nor_left(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(stopwatch.time, "monotonic", lambda: now[0])
    watch = Lines()
    watch.phase("searching", 4)
    now[0] = 20.0
    watch.cases(40)
    watch.waiting(True)
    now[0] = 4000.0
    watch.waiting(False)
    watch.advance()
    told = capsys.readouterr().err.splitlines()
    assert told[-2:] == [
        "searching: waiting for a design (0 of 4)",
        "searching: 1 of 4, 40 cases, 2 cases/s, 1 min left",
    ]


@pytest.mark.parametrize("width", [30, 40, 80, 200])
def test_the_live_line_fits_the_screen(monkeypatch, width):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=width, color_system=None)
    monkeypatch.setattr(progress, "err", lambda: console)
    with Live() as watch:
        watch.phase("reading [shift]", 10)
        watch.cases(40)
        watch.advance(5)
        watch.phase("deciding", 2)
    text = screen.getvalue()
    assert "✓ reading [shift]" in text


def test_quiet_says_nothing(capsys):
    with watcher(quiet=True) as watch:
        watch.phase("searching", 3)
        watch.cases()
        watch.advance()
        watch.note("x")
    assert capsys.readouterr() == ("", "")
