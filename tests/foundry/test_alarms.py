"""What a person should know first reaches them: looks that fail, that nobody looks, that nothing comes of it."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from metamem.cli.attach import tell_daemon
from metamem.cli.main import run
from metamem.core.access import Scope
from metamem.core.registry import BUILT_IN
from metamem.foundry.acts import acts
from metamem.foundry.alarms import IDLE, alarms, standing_still
from metamem.foundry.overseer import AGAIN, HOUR
from metamem.foundry.report import report
from metamem.foundry.telling import as_markdown
from metamem.foundry.workflows import store as workflows
from metamem.sandbox import bubblewrap
from metamem.service.attach.hourly import Hourly
from metamem.service.words import Session, ToolCall
from tests.foundry.tools.shop import BEGAN, Shop, look, opened, overseer, release

needs_jail = pytest.mark.skipif(not bubblewrap.works(), reason="bwrap does not work here")
OTHER = Scope.parse("local/project/zoo-1234567890ab")  # made after the shop's own


@pytest.fixture
def lived(tmp_path: Path) -> Iterator[Shop]:
    with opened(tmp_path) as made:
        yield made


def told(shop: Shop) -> str:
    return as_markdown(report(shop.site, since=0, until=shop.now[0]))


def damage(shop: Shop, steps: str = "{") -> str:
    """A row of the shop's workflows that cannot be read; what it was."""
    with shop.site.database.writing() as execute:
        ((before,),) = execute("SELECT steps FROM workflows WHERE scope = ?", (shop.site.number,))
        execute("UPDATE workflows SET steps = ? WHERE scope = ?", (steps, shop.site.number))
    return str(before)


def another(shop: Shop, sessions: int = 6) -> None:
    """A second project of the same memory."""
    shop.service.administration.add_scope(shop.service.local_caller(), str(OTHER))
    for number in range(100, 100 + sessions):
        release(shop.service, OTHER, number, shop.folder, "c" * 40)


def quiet(shop: Shop, first: int, count: int) -> None:
    """Sessions of which nothing can come."""
    for number in range(first, first + count):
        session, at = f"q{number}", BEGAN + 1_000 * HOUR + number * HOUR
        about = Session(session, (), "claude-code", started_at=at, ended_at=at + 50)
        calls = [ToolCall(f"{session}-0", "Bash", {"command": f"tool{number} --x"}, "",
                          failed=False, exit_code=0, at=at)]  # fmt: skip
        shop.service.local().ingest(str(shop.site.scope), about)
        shop.service.local().keep_calls(str(shop.site.scope), about, calls)
    shop.now[0] = BEGAN + (1_000 + first + count) * HOUR


def test_what_goes_wrong_in_one_project_stops_no_other(lived: Shop, capsys) -> None:
    look(lived)
    another(lived)
    before = damage(lived)
    assert run(["foundry", "oversee", "--memory", str(lived.memory)]) == 1
    said = capsys.readouterr()
    assert f"{OTHER}: 6 sessions read" in " ".join(said.out.split())
    errors = " ".join(said.err.split())
    assert f"error: {lived.site.scope}: JSONDecodeError" in errors and "Traceback" not in errors
    assert "1 of 2 projects could not be looked at" in errors
    with lived.site.database.reading() as execute:
        last = acts(execute, lived.site.number)[-1]
    assert last.what == "failed" and "JSONDecodeError" in last.why and "line" in last.why
    damage(lived, before)
    assert "failed: JSONDecodeError" in told(lived).split("##")[0]
    assert run(["foundry", "oversee", "--memory", str(lived.memory), "--json"]) == 0
    assert [each["trouble"] for each in json.loads(capsys.readouterr().out)] == ["", ""]
    assert not any("failed" in alarm for alarm in alarms(lived.site, at=lived.now[0]))


def test_one_that_always_fails_is_entered_once_a_day_and_has_no_other_wait(lived: Shop) -> None:
    look(lived)
    another(lived)
    damage(lived)
    own = overseer(lived)
    for _ in range(3):
        lived.now[0] += HOUR
        failed, well = sorted(asyncio.run(own.once()), key=lambda each: each.round is not None)
        assert (failed.scope, well.scope) == (str(lived.site.scope), str(OTHER))
        # The one that failed is still due, and comes after those at which nobody looked for longer.
        assert own.due(0)[0] in (OTHER, lived.site.scope)
    assert own.status()["failed"] == 3 and "JSONDecodeError" in own.trouble
    with lived.site.database.reading() as execute:
        assert [a.what for a in acts(execute, lived.site.number)].count("failed") == 1
    lived.now[0] += AGAIN
    asyncio.run(own.once())
    with lived.site.database.reading() as execute:
        assert [a.what for a in acts(execute, lived.site.number)].count("failed") == 2


def test_the_report_begins_with_what_is_wrong(lived: Shop) -> None:
    assert "Nobody looked at it as a whole yet" in told(lived)
    assert "40 sessions are kept, and nobody ever looked at them" in told(lived)
    look(lived)
    head = told(lived).split("\n## ")[0]
    assert "Last looked at: 2025-10-11 00:53" in head and "Warning" not in head
    lived.now[0] += 8 * 24 * HOUR  # the tool waits, and sessions came that nobody looked at
    quiet(lived, 0, 2)
    lived.now[0] += 48 * HOUR
    head = told(lived).split("\n## ")[0]
    assert "**Warning:** 1 tool waited for a person for more than a week" in head
    assert "**Warning:** 2 sessions came since the last look" in head


@needs_jail
def test_a_tool_that_was_disabled_is_told_first_and_nowhere_called_fine(lived: Shop) -> None:
    name = lived.deploy()
    look(lived)
    assert f"The tool `{name}` does it" in told(lived)
    for number in range(4):
        (lived.folder / "VERSION").unlink(missing_ok=True)
        given = [each.name for each in lived.foundry.deployed()[0].kept.tool.given]
        lived.run(name, **dict.fromkeys(given, f"{number}"))
    assert lived.names() == []
    text = told(lived)
    head, _, rest = text.partition("\n## ")
    assert f"**Disabled:** the tool `{name}` was taken out of use by itself" in head
    assert "4 of 4 uses failed" in head
    assert f"Its tool `{name}` was disabled: 4 of 4 uses failed" in rest
    assert "promoted:" not in rest.split("## What was done")[0]
    # What it did while it was in use stays to be read.
    assert "## Tools that are out of use" in rest and "Used 4 times, 0 of 4 that count" in rest


def test_it_stands_still_also_after_something_was_done(lived: Shop) -> None:
    look(lived)
    assert standing_still(lived.site.database, lived.site.number) == ""
    quiet(lived, 0, IDLE - 1)
    look(lived)
    assert standing_still(lived.site.database, lived.site.number) == ""
    quiet(lived, IDLE - 1, 1)
    assert standing_still(lived.site.database, lived.site.number) == ""  # the next look is to come
    look(lived)
    assert f"{IDLE} sessions came since anything was made of them" in standing_still(
        lived.site.database, lived.site.number
    )


def test_what_a_failed_hourly_look_said_is_told(tmp_path: Path, capsys) -> None:
    hourly = Hourly(tmp_path / "nowhere", every=3600, first=0)
    hourly.look()
    until = time.monotonic() + 120
    jobs = len(BUILT_IN["hourly"])
    while hourly.ran < jobs and time.monotonic() < until:
        time.sleep(0.2)
        hourly.look()
    hourly.close()
    status = hourly.status()
    assert (status["ran"], status["failed"]) == (jobs, jobs) and "nowhere" in status["trouble"]
    running = dict.fromkeys(
        ("pid", "seconds", "answered", "silent", "sessions", "stored", "calls", "facts", "late"), 0
    )
    tell_daemon({**running, "trouble": "", "hourly": status}, 0)
    told = " ".join(capsys.readouterr().err.split())
    assert f"of {jobs} hourly looks {jobs} failed; the last said:" in told


def test_what_one_job_failed_with_is_told_until_that_one_went_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another that goes well does not take the alarm off."""
    for name, text in (("fails", "raise SystemExit('no luck')"), ("works", "pass")):
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setitem(BUILT_IN, "hourly", {"fails": "fails:main", "works": "works:main"})
    hourly = Hourly(tmp_path, every=0.5, first=0)
    until = time.monotonic() + 60
    while hourly.ran < 6 and time.monotonic() < until:
        hourly.look()
        time.sleep(0.05)
        assert hourly.trouble == ("no luck" if hourly.failed else "")
    hourly.close()
    assert hourly.ran - hourly.failed >= 2  # and the other went well in between


def test_a_workflow_that_waits_says_what_for(tmp_path: Path) -> None:
    """Five uses begin an evaluation; which cases a tool is written from is left to chance."""
    with opened(tmp_path, sessions=6) as shop:
        (verdict,) = look(shop).round.judged  # type: ignore[union-attr]
        assert verdict.decided == "waits"
        assert "of 6 that went well to write a tool from, and it takes 3" in verdict.why
        assert "will be judged at the next look" not in told(shop)
        assert "Waits: not enough data yet" in told(shop)
        with shop.site.database.reading() as execute:
            (kept,) = workflows.workflows(execute, shop.site.number)
        assert kept.uses == 6 and shop.judge.judged == []
