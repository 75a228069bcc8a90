"""Settings that applied themselves are watched, and taken back where they are proven to hurt, and only there."""

import asyncio
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from metamem.cli.main import run
from metamem.core.aside import aside
from metamem.core.errors import Guarded
from metamem.core.ids import canonical_json, derive_seed
from metamem.promotion import Bounds
from metamem.promotion.ledger import MAY_BE_UNDONE, Ledger
from metamem.promotion.parameters import applied, change
from metamem.routing import Context, Outcome, Router, Settings, log
from metamem.routing.settings import SPACE
from metamem.routing.sides import paired, sides
from metamem.routing.tables import ROUTING as ROUTING_TABLES
from metamem.service import database
from metamem.service.database import Database
from metamem.service.importing.tables import IMPORTING
from metamem.service.routing import watching
from metamem.service.routing.settings import MOST_PAIRS
from metamem.service.routing.watching import SettingsWatch, undo_if_worse, watching_beside
from metamem.service.service import MemoryService
from metamem.service.tables import SERVICE
from metamem.store.engine import Execute, Value
from metamem.store.records import Place
from metamem.store.sql.base import insert
from metamem.store.sqlite import SqliteArchive
from tests.cli.test_streams import as_anybody
from tests.service.routing.killed import ARMS
from tests.service.routing.test_routing import ADA, NAME, RHEA, SCOPE
from tests.service.routing.watched import (
    HARMLESS,
    ROUTING,
    SABOTAGED,
    allow,
    changed,
    known_to,
    lived,
)

Judges = Callable[[list[tuple[float, float]]], bool]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[MemoryService]:
    made = MemoryService(tmp_path / "memory")
    made.make_scope(SCOPE)
    yield made
    made.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home" / "archive.db"


def decisions(home: Path) -> list[tuple[str, str]]:
    with SqliteArchive(home) as archive:
        return [
            (e.decision, e.decided_by)
            for e in archive.promotions()
            if e.subject.kind == "parameters"
        ]


def test_a_change_that_hurts_is_undone_once_and_the_former_runs_again(
    service: MemoryService, home: Path
) -> None:
    entry = changed(home, SABOTAGED)
    known_to(service, home)
    assert service.routing.standing(ADA, NAME).settings["floor"] == 0.5
    made = lived(service, ADA, NAME, 450)
    watch = SettingsWatch(service.database)
    (found,) = watch.look()
    assert (found.state, found.parameters, found.place) == ("undone", entry.subject.id, "routing")
    assert found.gain is not None and found.gain < -0.1
    assert "it was better before by" in found.told and "pairs of tasks" in found.told
    assert watch.look() == [] and SettingsWatch(service.database).look() == []
    assert decisions(home) == [("promoted", "auto:gate"), ("undone", "auto:bounds")]
    assert watch.status() == {"looks": 2, "watched": 0, "kept": 0, "undone": 1}
    service.routing._settings._known.clear()
    standing = service.routing.standing(ADA, NAME)
    assert (standing.settings, standing.watch) == (Settings().to_json(), "")
    after = service.routing.route(ADA, NAME, "mend it", ARMS)
    assert "held" not in after.why and "is watched" not in after.why
    told = [service.routing.explain(RHEA, decision) for decision in made]
    held_back = ["is watched" in each.why for each in told]
    assert 170 < sum(held_back) < 280
    assert [each.settings["floor"] for each in told] == [0.05 if h else 0.5 for h in held_back]


def test_one_that_hurts_nobody_stays_and_is_watched_until_enough_is_known(
    service: MemoryService, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed(home, HARMLESS)
    known_to(service, home)
    lived(service, ADA, NAME, 80)
    watch = SettingsWatch(service.database)
    (found,) = watch.look()
    assert found.state == "watched" and 18 <= found.pairs <= 36 and watch.warning() == ""
    assert f"{found.pairs} pairs" in service.routing.standing(ADA, NAME).watch
    for module in (watching, sys.modules["metamem.service.routing.settings"]):
        monkeypatch.setattr(module, "MOST_PAIRS", 30)
    if found.pairs < 30:
        lived(service, ADA, NAME, 70, seed=1)
    (found,) = watch.look()
    assert found.state == "kept" and watch.status()["kept"] == 1
    service.routing._settings._known.clear()
    assert service.routing.standing(ADA, NAME).watch == ""  # from now on it runs alone
    made = lived(service, ADA, NAME, 20, seed=2)
    told = [service.routing.explain(ADA, decision) for decision in made]
    assert {each.settings["half_life"] for each in told} == {4999.0}
    assert not any("is watched" in each.why for each in told)


def test_what_a_person_approved_is_neither_watched_nor_undone(
    service: MemoryService, home: Path
) -> None:
    entry = changed(home, SABOTAGED, bounds=Bounds({"floor": (0.01, 0.1)}))
    assert entry.waits
    with SqliteArchive(home) as archive:
        Ledger(archive).approve(entry.subject, ROUTING, by="Ada")
    known_to(service, home)
    lived(service, ADA, NAME, 70)
    assert service.routing.standing(ADA, NAME).watch == ""
    assert SettingsWatch(service.database).look() == []
    assert decisions(home)[-1] == ("approved", "Ada")


def test_what_was_approved_for_as_long_as_it_does_no_harm_is_taken_back_where_it_does(
    service: MemoryService, home: Path
) -> None:
    entry = changed(home, SABOTAGED, bounds=Bounds({"floor": (0.01, 0.1)}))
    with SqliteArchive(home) as archive:
        Ledger(archive).approve(entry.subject, ROUTING, by="Ada", evidence={MAY_BE_UNDONE: True})
    known_to(service, home)
    lived(service, ADA, NAME, 450)
    assert [each.state for each in SettingsWatch(service.database).look()] == ["undone"]
    assert decisions(home)[1:] == [("approved", "Ada"), ("undone", "auto:bounds")]


def test_the_settings_before_are_those_that_an_undo_brings_back(
    service: MemoryService, home: Path
) -> None:
    """A scope's own, else the domain's, else those by default."""
    changed(home, {"floor": 0.3})
    changed(home, {"floor": 0.2})
    known_to(service, home)
    assert service.routing._settings.of(NAME).before.floor == 0.3
    changed(home, {"floor": 0.1}, Place("scope", NAME))
    known_to(service, home)
    used = service.routing._settings.of(NAME)
    assert (used.settings.floor, used.before.floor) == (0.1, 0.2)
    assert used.origin == f"scope:{NAME}"
    with SqliteArchive(home) as archive:
        use = applied(Ledger(archive), Place("scope", NAME))[0]
        Ledger(archive).undo(use.subject, use.place, by="auto:bounds", reason="a test")
    known_to(service, home)
    used = service.routing._settings.of(NAME)
    assert (used.settings.floor, used.before.floor) == (0.2, 0.3)


def test_one_arm_alone_is_no_evidence(service: MemoryService, home: Path) -> None:
    changed(home, SABOTAGED)
    known_to(service, home)
    for _ in range(10):
        made = service.routing.route(ADA, NAME, "mend it", ["b"])
        service.routing.reward(ADA, made.decision, Outcome(1.0))
    (found,) = SettingsWatch(service.database).look()
    assert (found.pairs, found.gain) == (0, None)
    with service.database.reading() as execute:
        assert not execute("SELECT 1 FROM route_decisions WHERE watched <> '' OR held_back <> 0")


def test_a_watch_to_which_nothing_comes_back_is_told(service: MemoryService, home: Path) -> None:
    changed(home, SABOTAGED)
    known_to(service, home)
    watch = SettingsWatch(service.database)
    watch.look()
    assert watch.warning() == ""  # nobody asked for a route yet
    for n in range(watching.SILENT):
        service.routing.route(ADA, NAME, f"mend it {n}", ARMS)
    watch.look()
    assert "of 30 decisions" in watch.warning() and "nothing would show" in watch.warning()
    assert watch.status()["undone"] == 0


def test_where_one_side_tells_less_nothing_is_proven(service: MemoryService, home: Path) -> None:
    """What hangs tells nothing: the outcomes that are known are not those of all tasks."""
    changed(home, SABOTAGED)
    known_to(service, home)
    luck = random.Random(1)
    for n in range(450):
        made = service.routing.route(ADA, NAME, f"mend it {n}", ARMS)
        new = "is watched" not in made.why
        if not new or luck.random() < 0.5:
            service.routing.reward(ADA, made.decision, Outcome(float(not new)))
    watch = SettingsWatch(service.database)
    (found,) = watch.look()
    assert found.state == "watched" and found.gain == -1.0
    assert "cannot be compared" in watch.warning()


def test_an_archive_that_cannot_be_read_keeps_nobody_from_the_others(
    service: MemoryService, home: Path, tmp_path: Path
) -> None:
    changed(home, SABOTAGED)
    known_to(service, home)
    broken = tmp_path / "a" / "archive.db"
    broken.parent.mkdir()
    broken.write_text("no database at all" * 100)
    known_to(service, broken)
    lived(service, ADA, NAME, 450)
    watch = SettingsWatch(service.database)
    assert [each.state for each in watch.look()] == ["undone"]
    assert "cannot be read" in watch.warning() and str(tmp_path) not in watch.warning()
    looked = hourly(service)
    assert looked.returncode == 1 and "cannot be read" in looked.stderr


def test_an_archive_that_can_only_be_read_is_not_said_to_be_unreadable(
    service: MemoryService, home: Path
) -> None:
    """What hurts runs on: whoever looks after it is told so, by the daemon as well."""
    changed(home, SABOTAGED)
    known_to(service, home)
    lived(service, ADA, NAME, 450)
    home.chmod(0o444)
    home.parent.chmod(0o555)
    try:
        looked = hourly(service, preexec_fn=as_anybody)
    finally:
        home.parent.chmod(0o755)
        home.chmod(0o644)
    assert looked.returncode == 1 and "are proven to hurt and stay in use" in looked.stderr
    assert decisions(home) == [("promoted", "auto:gate")]
    assert (hourly(service).returncode, decisions(home)[-1]) == (0, ("undone", "auto:bounds"))


def hourly(service: MemoryService, **how: Any) -> subprocess.CompletedProcess[str]:
    """As the daemon does it."""
    command = [sys.executable, "-m", "metamem.service.routing.hourly", str(service.folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **how)


def test_parameters_of_something_else_are_left_alone(service: MemoryService, home: Path) -> None:
    bounds = Bounds({"degrees": (0, 300)})
    with SqliteArchive(home) as archive:
        ledger = Ledger(archive)
        for place in (Place("scope", NAME), Place("domain", "bread")):
            allow(ledger, bounds, place)
            about = {"reason": "", "evidence": {}, "defaults": {"degrees": 180.0}}
            assert not change(ledger, {"degrees": 200.0}, place, **about).waits
    known_to(service, home)
    assert service.routing._settings.of(NAME).watch == ""
    assert SettingsWatch(service.database).look() == []


def test_a_log_of_before_is_read_and_none_of_it_is_evidence(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = log.Decision(
        "d1", 1, "default", 1, 0, "ada", Context("mend it"), Router().choose(Context("mend it"), ARMS, 1),
        {}, Settings(),
    )  # fmt: skip
    older = (SERVICE, IMPORTING, replace(ROUTING_TABLES, steps=ROUTING_TABLES.steps[:1]))
    with monkeypatch.context() as before:
        before.setattr(database, "COMPONENTS", older)
        memory = MemoryService(tmp_path / "memory")
        try:
            memory.make_scope(SCOPE)
            with memory.database.writing() as execute:
                ((number,),) = execute("SELECT number FROM scopes WHERE name = 'web'")
                insert(execute, "route_decisions", {**row_of(made), "scope": number})
        finally:
            memory.close()
    changed(home, SABOTAGED)
    memory = MemoryService(tmp_path / "memory")
    try:
        known_to(memory, home)
        assert memory.routing.explain(ADA, "d1").task == "mend it"
        memory.routing.reward(ADA, "d1", Outcome(1.0))
        (found,) = SettingsWatch(memory.database).look()
        assert found.pairs == 0
        with pytest.raises(Guarded), memory.database.writing() as execute:
            execute("UPDATE route_decisions SET held_back = 1")
    finally:
        memory.close()


def row_of(made: log.Decision) -> dict[str, Any]:
    """As the version before wrote it."""
    return {
        "id": made.id, "router": made.router, "number": made.number, "at": made.at, "who": made.who,
        "context": canonical_json(asdict(made.context)),
        "beliefs": canonical_json([asdict(belief) for belief in made.choice.beliefs]),
        "speaks": "{}", "settings": canonical_json(made.settings.to_json()),
        "arm": made.choice.arm, "propensity": made.choice.propensity,
    }  # fmt: skip


def test_killed_at_any_moment_and_beside_others_it_is_undone_once(
    service: MemoryService, home: Path
) -> None:
    changed(home, SABOTAGED)
    known_to(service, home)
    lived(service, ADA, NAME, 450)
    command = [sys.executable, "-m", "metamem.service.routing.hourly", str(service.folder)]
    luck = random.Random(3)
    for _ in range(6):
        process = subprocess.Popen(command)
        with suppress(subprocess.TimeoutExpired):
            process.wait(luck.uniform(0.3, 1.5))
        process.kill()
        process.wait()
    several = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait(60) for process in several] == [0, 0, 0]
    assert decisions(home) == [("promoted", "auto:gate"), ("undone", "auto:bounds")]


def test_it_goes_on_beside_a_server_and_by_command(
    service: MemoryService, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed(home, SABOTAGED)
    known_to(service, home)
    lived(service, ADA, NAME, 40)

    async def beside() -> int:
        async with watching_beside(service.database, look_every=0.01) as watch:
            await until(lambda: watch.looks > 0)
            assert watch.status()["watched"] == 1
            await aside(lived, service, ADA, NAME, 410, 1)
            await until(lambda: watch.undone > 0)
            looks = watch.looks
            await until(lambda: watch.looks > looks)  # and goes on
            return watch.undone

    assert asyncio.run(beside()) == 1
    assert decisions(home)[-1] == ("undone", "auto:bounds")
    assert run(["route", "watch", "--memory", str(service.folder)]) == 0
    assert "no settings that are watched are in use" in capsys.readouterr().out
    changed(home, HARMLESS)
    known_to(service, home)
    lived(service, ADA, NAME, 10)
    assert run(["route", "watch", "--memory", str(service.folder), "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["watched"]
    assert told["state"] == "watched" and told["pairs"] > 0
    assert run(["route", "watch", "--memory", str(service.folder)]) == 0
    assert "watched: it may be taken back" in " ".join(capsys.readouterr().out.split())


async def until(done: Callable[[], bool]) -> None:
    for _ in range(6000):
        if done():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come to that")


# --- how often it is right ----------------------------------------------------------------------


@pytest.fixture
def judged(home: Path) -> Iterator[Judges]:
    """Whether pairs undo a change; it is then made once more."""
    changed(home, SABOTAGED)
    with SqliteArchive(home) as archive:
        ledger = Ledger(archive)

        def judge(pairs: list[tuple[float, float]]) -> bool:
            if undo_if_worse(ledger, applied(ledger, ROUTING)[0], pairs) is None:
                return False
            changed(home, SABOTAGED)
            return True

        yield judge


def streamed(
    kept: Database, watch: str, values: Mapping[str, Any], tasks: int
) -> list[tuple[float, float]]:
    """Pairs of a router's tasks, dealt between two settings that learn from one log."""
    luck = random.Random(watch)
    before = {"dimensions": 8}
    both = {
        held_back: Settings.learned(SPACE.completed({**before, **({} if held_back else values)}))
        for held_back in (True, False)
    }
    routers = {settings: Router(settings) for settings in both.values()}
    with kept.writing() as execute:
        for n in range(tasks):
            held_back = luck.random() < 0.5
            context = Context(f"{('mend', 'paint', 'sell')[n % 3]} it")
            choice = routers[both[held_back]].choose(context, ARMS, derive_seed(watch, n))
            good = choice.arm == ("a" if n % 3 else "b")
            outcome = Outcome(float(luck.random() < (0.9 if good else 0.1)))
            for router in routers.values():
                router.learn(context, choice.arm, outcome, n + 1)
            made = log.Decision(
                f"{watch} {n}", 1, "default", 0, n, "ada", context, choice, {}, both[held_back],
                watched=watch, held_back=held_back,
            )  # fmt: skip
            log.tell(execute, log.enter(execute, made), outcome, at=n, who="ada")
        return paired(execute, watch, MOST_PAIRS)


@pytest.mark.slow
def test_a_planted_harm_is_found(service: MemoryService, judged: Judges) -> None:
    found = sum(
        judged(streamed(service.database, f"planted {seed}", SABOTAGED, 450)) for seed in range(100)
    )
    assert found >= 95


@pytest.mark.slow
def test_where_both_are_alike_nothing_is_undone_beyond_the_level(
    service: MemoryService, judged: Judges
) -> None:
    """Routers with the same settings, learning from one log."""
    rounds = 200
    undone = sum(
        judged(streamed(service.database, f"null {seed}", {}, 120)) for seed in range(rounds)
    )
    assert undone <= stats.binom.ppf(0.999, rounds, watching.LEVEL)


def came(sides_and_worths: Iterable[tuple[bool, float]]) -> Execute:
    """A log in which outcomes of one router came in this order."""
    usual = canonical_json(Settings().to_json())
    rows = [(1, "default", side, usual, worth, 0.0, 0.0) for side, worth in sides_and_worths]
    return lambda *_: rows


@pytest.mark.slow
@pytest.mark.parametrize("worth", ["one in two", "nearly all", "less and less"])
def test_the_level_holds_over_all_looks(judged: Judges, worth: str) -> None:
    first, last = {"one in two": (0.5, 0.5), "nearly all": (0.95, 0.95)}.get(worth, (0.9, 0.3))
    luck, rounds, tasks, undone = random.Random(worth), 400, 3 * MOST_PAIRS, 0
    for _ in range(rounds):
        draws = [
            (luck.random() < 0.5, float(luck.random() < first + (last - first) * n / tasks))
            for n in range(tasks)
        ]
        undone += judged(paired(came(draws), "w", MOST_PAIRS))
    assert undone <= stats.binom.ppf(0.999, rounds, watching.LEVEL)


def test_tasks_that_get_harder_are_no_evidence_against_the_side_that_got_more_of_them() -> None:
    """Of 60 easy tasks before had 40, of 60 hard ones now had 40: what counts is what came next to it."""
    easy, hard = [True, False, True] * 20, [False, True, False] * 20
    log_of = came([(side, 1.0) for side in easy] + [(side, 0.0) for side in hard])
    pairs = paired(log_of, "w", MOST_PAIRS)
    assert len(pairs) >= 30 and sum(before != now for before, now in pairs) <= 1


def test_a_long_log_is_not_read_through_for_what_is_watched(service: MemoryService) -> None:
    with service.database.reading() as execute:

        def planned(statement: str, values: Sequence[Value] = ()) -> list[Any]:
            steps = execute(f"EXPLAIN QUERY PLAN {statement}", values)
            assert not any("SCAN" in str(step) for step in steps), steps
            return execute(statement, values)

        assert sides(planned, "w").pairs == 0 and paired(planned, "w", MOST_PAIRS) == []


def test_pairs_are_made_within_a_router_and_what_is_known_of_the_first_stays(
    service: MemoryService, home: Path
) -> None:
    changed(home, HARMLESS)
    known_to(service, home)
    for n, router in enumerate(("day", "night")):
        lived(service, ADA, NAME, 40, seed=n, router=router)
    (watch,) = {service.routing._settings.of(NAME).watch}
    with service.database.reading() as execute:
        before, known = paired(execute, watch, MOST_PAIRS), sides(execute, watch)
        assert len(before) == known.pairs and paired(execute, watch, 5) == before[:5]
        assert known.before.decisions + known.now.decisions == 80
    lived(service, ADA, NAME, 40, router="day", cost_weight=0.9)
    with service.database.reading() as execute:
        assert paired(execute, watch, len(before)) == before
        assert sides(execute, watch).pairs > len(before)
