"""What stands between hooks and those who have something to say: pace, tails of transcripts, advisers."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from metamem.core import registry
from metamem.core.access import Scope
from metamem.service.attach import control
from metamem.service.attach.advising import KIND, SILENCE, Advice, Advisers
from metamem.service.attach.events import Event, ToolBegun
from metamem.service.attach.pace import LEAST, SHARE, Pace
from metamem.service.attach.spool import Pointer
from metamem.service.attach.tails import FIRST, Tails
from metamem.service.database import FILE, Database
from tests.service.attach.hosts import END, START, sent
from tests.service.attach.living import Life
from tests.service.importing.written import Claude, Codex, use

SCOPE = Scope("local", "project", "shop")


# --- pace ------------------------------------------------------------------------------------


def test_while_tools_are_used_a_session_is_looked_at_now_and_then() -> None:
    now = 100.0
    pace = Pace(lambda: now)
    used = Pointer("codex", "s", "/t", "/f", "PostToolUse")
    ended, other = Pointer("codex", "s", "/t", "/f", "Stop"), Pointer("codex", "o", "/o", "/f", "PreToolUse")  # fmt: skip
    assert pace.due(used)
    with pace.looking(used):
        now += 0.1
    assert not pace.due(used)
    assert pace.due(ended) and pace.due(other)
    now += LEAST + 0.01
    assert pace.due(used)
    with pace.looking(used):
        now += 3.0  # it is long
    now += SHARE * 3.0 - 1.0
    assert not pace.due(used)
    now += 2.0
    assert pace.due(used)


def test_calls_are_kept_while_a_session_goes_on_and_its_sub_agents_with_them(life: Life) -> None:
    life.begin()
    commands = life.attach("claude-code")
    session = Claude("s", str(life.project))
    session.user("Look around.")
    session.agent("I do.", use("toolu_1", "Bash", command="ls"))
    file = life.home / "s.jsonl"
    file.write_text(session.text())
    helper = Claude("s", str(life.project))
    helper.agent(use("toolu_2", "Grep", pattern="x"), isSidechain=True, agentId="a7")
    beside = life.home / "s" / "subagents" / "agent-a7.jsonl"
    beside.parent.mkdir(parents=True)
    beside.write_text(helper.text())
    control.start(life.meeting)
    given = sent("claude-code", END, "s", life.project, file) | {"hook_event_name": "PostToolUse"}
    life.run(commands["PostToolUse"], given)
    life.settled()
    told = control.status(life.meeting)
    assert told is not None and (told["calls"], told["trouble"]) == (2, "")


# --- tails -----------------------------------------------------------------------------------


def about(path: Path, host: str = "codex") -> ToolBegun:
    return ToolBegun(host=host, session="s", transcript=str(path), tool="Bash", agent="a1")


def test_what_ended_since_the_last_look_is_told_once(tmp_path: Path) -> None:
    path, tails = tmp_path / "rollout.jsonl", Tails()
    session = Codex("s", "/f")
    session.user("Go.")
    path.write_text(session.text())
    assert tails.ended(about(path)) == []
    session.run("c1", "make", "no rule", 2)
    whole = session.text()
    cut = whole.rindex('{"timestamp"')
    path.write_text(whole[:cut])  # it was begun
    assert tails.ended(about(path)) == []
    path.write_text(whole[: cut + 50])  # half a line
    assert tails.ended(about(path)) == []
    path.write_text(whole)
    (event,) = tails.ended(about(path))
    assert (event.call, event.failed, event.exit_code, event.agent) == ("c1", True, 2, "a1")
    assert event.arguments == {"cmd": "make"}
    assert tails.ended(about(path)) == []


def test_a_long_transcript_is_begun_near_its_end(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    session = Codex("s", "/f")
    for number in range(2000):
        session.run(f"c{number}", "make", "x" * 200, 1)
    path.write_text(session.text())
    assert path.stat().st_size > 2 * FIRST
    (event,) = Tails().ended(about(path))
    assert event.call == "c1999"


@pytest.mark.parametrize("name", ["gone.jsonl", "rollout.jsonl.zst", ""])
def test_transcripts_that_cannot_be_read_tell_nothing(tmp_path: Path, name: str) -> None:
    if name.endswith(".zst"):
        (tmp_path / name).write_bytes(b"x")
    assert Tails().ended(about(tmp_path / name if name else Path())) == []
    other = tmp_path / "c.jsonl"
    other.write_text(Claude("s").text())
    assert Tails().ended(about(other, "claude-code")) == []  # whose hooks tell of failures


# --- advisers --------------------------------------------------------------------------------


class Speaks:
    delivered = 0

    def __init__(self, database: Database) -> None:
        self.events: list[Event] = []

    def heard(self, scope: Scope, events: Sequence[Event]) -> Advice:
        self.events += events
        return Advice("A word.", self._note) if len(self.events) < 3 else SILENCE

    def kept(self, scope: Scope) -> None: ...

    def _note(self) -> None:
        Speaks.delivered += 1


class Breaks:
    def __init__(self, database: Database) -> None: ...

    def heard(self, scope: Scope, events: Sequence[Event]) -> Advice:
        raise RuntimeError("broken\nfor good")

    def kept(self, scope: Scope) -> None:
        raise RuntimeError("broken")


class Absent:
    def __init__(self, database: Database) -> None:
        raise ImportError("no such thing")


def test_an_adviser_that_fails_silences_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = {"absent": Absent, "breaks": Breaks, "speaks": Speaks}
    paths = {name: f"{__name__}:{kind.__name__}" for name, kind in here.items()}
    monkeypatch.setitem(registry.BUILT_IN, KIND, paths)
    database = Database(tmp_path / FILE)
    advisers = Advisers(database)
    assert "absent" in advisers.trouble
    event = ToolBegun(host="codex", session="s", tool="Bash")
    told = advisers.heard(SCOPE, [event])
    assert told.text == "A word."
    told.delivered()
    assert Speaks.delivered == 1
    assert advisers.trouble == "breaks: RuntimeError: broken"
    advisers.kept(SCOPE)
    assert advisers.heard(SCOPE, [event, event]).text == ""
    database.close()


def test_memory_is_told_though_an_adviser_cannot_be_made(life: Life) -> None:
    """A memory whose tables of failures are broken still gives its briefing."""
    from metamem.service.words import Draft

    life.begin(Draft("The shop runs on PostgreSQL 16.", "decision", "user"))
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(life.meeting.memories / FILE)) as there, there:
        there.execute("CREATE TABLE failures (broken INTEGER)")
    commands = life.attach("claude-code")
    control.start(life.meeting)
    told, _ = life.told(
        commands["SessionStart"], lambda one: sent("claude-code", START, one, life.project, None)
    )
    assert "PostgreSQL 16" in told["hookSpecificOutput"]["additionalContext"]
    status = control.status(life.meeting)
    assert status is not None
