"""The overseer does a whole round, the same twice is the same once, and its report is what the log says."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from metamem.cli.main import run
from metamem.core.access import Scope
from metamem.core.registry import BUILT_IN
from metamem.foundry.acts import LOOKED, acts, cursor_of
from metamem.foundry.alarms import standing_still
from metamem.foundry.overseer import HOUR
from metamem.foundry.report import report
from metamem.foundry.telling import as_markdown
from metamem.foundry.tidying import UNUSED, tidy
from metamem.foundry.workflows import store as workflows
from metamem.service.attach.hourly import Hourly
from metamem.service.database import FILE
from metamem.service.words import Session, ToolCall
from metamem.store.runlock import lock_file
from tests.foundry.tools.shop import BEGAN, Shop, look, opened, overseer


@pytest.fixture
def lived(tmp_path: Path) -> Iterator[Shop]:
    with opened(tmp_path) as made:
        yield made


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with opened(tmp_path, sessions=0) as made:
        yield made


def done(shop: Shop) -> list[str]:
    with shop.site.database.reading() as execute:
        return [each.what for each in acts(execute, shop.site.number)]


def broke(shop: Shop, number: int, at: int, *, then: str = "") -> None:
    """A session in which a command fails, and perhaps another one works after that."""
    session, scope = f"b{number}", str(shop.site.scope)
    calls = [
        ToolCall(
            f"{session}-0",
            "Bash",
            {"command": "pytest -q"},
            "pytest: command not found",
            failed=True,
            exit_code=127,
            at=at,
        )
    ]
    if then:
        calls.append(ToolCall(f"{session}-1", "Bash", {"command": then}, "3 passed", failed=False,
                              exit_code=0, at=at + 1000))  # fmt: skip
    about = Session(session, (), "claude-code", started_at=at, ended_at=at + 2000)
    shop.service.local().ingest(scope, about)
    shop.service.local().keep_calls(scope, about, calls)


def test_one_look_does_a_whole_round_and_a_second_one_nothing(lived: Shop) -> None:
    first = look(lived)
    assert first.round is not None and first.round.took.sessions == 40
    assert [verdict.decided for verdict in first.round.judged] == ["promoted"]
    assert lived.names() == []  # it waits for a person
    before = done(lived)
    assert {"took in", "mined", "promoted", "oversaw"} <= set(before)
    lived.now[0] += HOUR
    again = look(lived)
    assert again.did == 0 and done(lived) == before
    assert len(lived.judge.judged) == 1


def test_it_is_due_by_the_hour_and_only_where_tools_were_used(lived: Shop) -> None:
    lived.service.make_scope(Scope.parse("local/project/quiet"))
    own = overseer(lived)
    assert own.due() == [lived.site.scope]
    asyncio.run(own.once())
    assert own.due() == []
    lived.now[0] += HOUR
    assert own.due() == [lived.site.scope]
    assert own.status()["looks"] == 1


def test_one_process_has_a_scope_at_a_time(lived: Shop) -> None:
    with lock_file(lived.memory / f"{FILE}.locks", f"foundry {lived.site.scope}"):
        busy = look(lived)
    assert busy.round is None and "another process" in busy.trouble
    assert done(lived) == []
    assert look(lived).did


def test_the_report_matches_the_log(lived: Shop) -> None:
    for number in range(3):
        broke(lived, number, BEGAN + number * HOUR, then="uv run pytest -q" if number else "")
    lived.deploy()
    look(lived)
    found = report(lived.site, since=0, until=lived.now[0])
    with lived.site.database.reading() as execute:
        log = acts(execute, lived.site.number)
    assert found.deeds == Counter(each.what for each in log)
    assert found.sessions == 43 and found.calls == 205
    told = as_markdown(found)
    assert "uv run pytest -q" in told and "pytest: command not found" in told
    assert f"`{lived.names()[0]}`" in told
    assert sum(well for well, _ in found.outcomes.values()) == 42
    # Forty releases are one way in which sessions ended well.
    assert (found.learned.successes, [well.sessions for well in found.successes]) == (40, [40])
    assert "## What ended well" in told and "Telling it before a retry" in told
    later = report(lived.site, since=lived.now[0] + 1, until=lived.now[0] + 2)
    assert later.deeds == {} and later.failures == found.failures


def test_failures_that_nothing_resolves_are_told(shop: Shop) -> None:
    for number in range(4):
        broke(shop, number, BEGAN + number * HOUR)
    look(shop)
    found = report(shop.site, since=0, until=BEGAN * 2)
    assert [each.count for each in found.unresolved] == [4]
    assert "nothing resolved" in as_markdown(found)


def test_what_nobody_needs_is_put_away_and_comes_back(lived: Shop, capsys) -> None:
    lived.deploy()
    broke(lived, 0, BEGAN)
    look(lived)
    lived.now[0] += UNUSED + HOUR
    assert tidy(lived.site, at=lived.now[0]).total == 0  # nobody was there meanwhile
    at, scope = lived.now[0], str(lived.site.scope)
    about = Session("later", (), "claude-code", started_at=at, ended_at=at)
    lived.service.local().ingest(scope, about)
    listed = ToolCall("later-0", "Bash", {"command": "ls"}, failed=False, exit_code=0, at=at)
    lived.service.local().keep_calls(scope, about, [listed])
    tidied = tidy(lived.site, at=lived.now[0])
    assert (tidied.failures, tidied.workflows, tidied.retired) == (1, 1, 1)
    assert lived.names() == []
    assert tidy(lived.site, at=lived.now[0]).total == 0
    told = as_markdown(report(lived.site, since=0, until=lived.now[0]))
    assert "1 more failure put away: `metamem foundry failures --archived`" in told
    with lived.site.database.reading() as execute:
        (away,) = workflows.workflows(execute, lived.site.number, archived=True)
    place = ["--memory", str(lived.memory), "--scope", str(lived.site.scope)]
    assert run(["foundry", "restore", away.id[:8], *place]) == 0
    with lived.site.database.reading() as execute:
        assert [each.id for each in workflows.workflows(execute, lived.site.number)] == [away.id]
    assert tidy(lived.site, at=lived.now[0]).total == 0  # what a person brought back stays
    assert run(["foundry", "restore", "nothing", *place]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_nothing_is_made_of_sessions_in_which_nothing_repeats(shop: Shop) -> None:
    luck = random.Random(3)
    for number in range(30):
        session, at = f"n{number}", BEGAN + number * HOUR
        calls = [
            ToolCall(
                f"{session}-{k}",
                "Bash",
                {"command": f"tool{luck.randrange(40)} --x {luck.random()}"},
                "",
                failed=False,
                exit_code=0,
                at=at + k,
            )
            for k in range(luck.randint(1, 5))
        ]
        about = Session(session, (), "claude-code", started_at=at, ended_at=at + 50)
        shop.service.local().ingest(str(shop.site.scope), about)
        shop.service.local().keep_calls(str(shop.site.scope), about, calls)
    assert "nobody ever looked" in standing_still(shop.site.database, shop.site.number)
    assert look(shop).round.judged == ()  # type: ignore[union-attr]
    assert shop.names() == [] and not shop.judge.judged
    assert "nothing ever came of it" in standing_still(shop.site.database, shop.site.number)


@pytest.mark.slow
def test_killed_at_any_moment_nothing_is_lost_or_done_twice(lived: Shop) -> None:
    command = [sys.executable, "-m", "metamem.foundry.hourly", str(lived.memory)]
    luck = random.Random(int.from_bytes(os.urandom(2)))
    for _ in range(4):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        time.sleep(luck.uniform(0.3, 2.5))
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert subprocess.run(command, check=False).returncode == 0
    with lived.site.database.reading() as execute:
        (kept,) = workflows.workflows(execute, lived.site.number)
        assert (kept.uses, kept.sessions) == (40, 40)
        assert cursor_of(execute, lived.site.number, LOOKED)
    assert Counter(done(lived))["promoted"] <= 1


@pytest.mark.slow
def test_the_daemon_starts_it_in_a_process_of_its_own(lived: Shop) -> None:
    hourly = Hourly(lived.memory, every=3600, first=0)
    hourly.look()
    until = time.monotonic() + 120
    jobs = len(BUILT_IN["hourly"])
    while hourly.ran < jobs and time.monotonic() < until:
        time.sleep(0.2)
        hourly.look()
    hourly.close()
    assert (hourly.ran, hourly.failed) == (jobs, 0)
    assert "oversaw" in done(lived)


def test_commands_tell_it_to_people_and_to_programs(lived: Shop, capsys) -> None:
    look(lived)
    place = ["--memory", str(lived.memory), "--scope", str(lived.site.scope)]
    assert run(["foundry", "report", *place]) == 0
    assert "## What is done again and again" in capsys.readouterr().out
    assert run(["foundry", "workflows", *place, "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert told["uses"] == 40 and len(told["steps"]) >= 4
    assert run(["foundry", "failures", *place, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert run(["foundry", "oversee", *place, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["scope"] == str(lived.site.scope)
    assert run(["foundry", "lessons", *place, "--json"]) == 0
    assert {each["kind"] for each in json.loads(capsys.readouterr().out)} == {"success"}
    assert run(["foundry", "failures", *place, "--archived"]) == 0
    assert capsys.readouterr().out == "Nothing was put away.\n"
    nowhere = ["--memory", str(lived.memory), "--scope", "project/no"]
    assert run(["foundry", "report", *nowhere]) == 2
    assert run(["foundry", "oversee", *nowhere]) == 1
