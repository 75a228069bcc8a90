"""Routing for callers: decisions with true propensities, rights, erasing, and what survives a kill."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from metamem.core.access import Caller, Scope
from metamem.core.errors import Denied, Guarded, UnknownName, UsageError
from metamem.domains.routing import RoutingDomain
from metamem.promotion.ledger import Ledger
from metamem.promotion.parameters import change
from metamem.routing import Arm, Outcome, Settings, log
from metamem.routing.settings import SPACE
from metamem.search.learnables.parameters import Parameters
from metamem.service.archives import note_archive
from metamem.service.routing import routing as parts
from metamem.service.routing.words import Contender, Routed
from metamem.service.service import MemoryService
from metamem.store.records import Place
from metamem.store.sqlite import SqliteArchive
from tests.service.routing.killed import ARMS
from tests.service.routing.killed import SCOPE as OWN

SCOPE = Scope("acme", "project", "web")
NAME = str(SCOPE)
HERE = frozenset({SCOPE})
ADA = Caller("acme", "ada", reads=HERE, writes=HERE, manages=HERE)
RHEA = Caller("acme", "rhea", reads=HERE)
WALT = Caller("acme", "walt", writes=HERE)
SAM = Caller("acme", "sam")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[MemoryService]:
    made = MemoryService(tmp_path / "memory")
    made.make_scope(SCOPE)
    yield made
    made.close()


def routed(
    service: MemoryService, caller: Caller = ADA, task: str = "mend it", **given: str
) -> Routed:
    return service.routing.route(caller, NAME, task, ARMS, **given)


def test_from_a_choice_to_its_outcome_and_back(service: MemoryService) -> None:
    made = routed(service)
    assert made.arm in ("a", "b") and sum(a.propensity for a in made.arms) == pytest.approx(1)
    assert made.propensity == next(a.propensity for a in made.arms if a.arm == made.arm)
    before = service.routing.explain(RHEA, made.decision)
    assert not before.rewarded and before.success is before.cost is before.latency is None
    assert before.why == made.why and before.task == "mend it"
    assert service.routing.reward(ADA, made.decision, Outcome(1.0, 0.2, 3.0)).new
    after = service.routing.explain(RHEA, made.decision)
    assert (after.rewarded, after.success, after.cost, after.latency) == (True, 1.0, 0.2, 3.0)
    assert after.propensity == made.propensity and after.number == 1
    standing = service.routing.standing(RHEA, NAME)
    assert (standing.decisions, standing.outcomes, standing.settings_from) == (1, 1, "defaults")


def test_a_router_cannot_be_named_with_a_secret(service: MemoryService) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a router") as told:
        service.routing.route(ADA, NAME, "mend it", ["a"], router="ghp_" + "Z9y8X7w6V5" * 4)
    assert "Z9y8X7w6V5" not in str(told.value)


def test_arms_may_be_named_by_their_names_alone(service: MemoryService) -> None:
    made = service.routing.route(ADA, NAME, "mend it", ["a", Contender("b", success=0.9)])
    assert [(arm.arm, round(arm.success, 1)) for arm in made.arms] == [("a", 0.5), ("b", 0.9)]
    for wrong in ("ab", [1], [("a", 0.5)]):
        with pytest.raises(UsageError, match="list of names"):
            service.routing.route(ADA, NAME, "mend it", wrong)  # type: ignore[arg-type]


def test_what_cost_and_latency_are_worth_is_the_callers_word(service: MemoryService) -> None:
    arms = [Contender("cheap", success=0.6), Contender("dear", success=0.9, cost=2.0, latency=9.0)]

    def worth(**weights: float) -> dict[str, float]:
        made = service.routing.route(ADA, NAME, "mend it", arms, **weights)
        told = service.routing.explain(ADA, made.decision).settings
        assert {name: told[name] for name in weights} == weights  # the log knows them
        service.routing.reward(ADA, made.decision, Outcome(0.5, cost=1.0))
        return {arm.arm: arm.worth for arm in made.arms}

    assert worth(cost_weight=0.0, latency_weight=0.0) == pytest.approx({"cheap": 0.6, "dear": 0.9})
    dear = worth(cost_weight=0.4, latency_weight=0.02)
    assert dear["dear"] < dear["cheap"]
    with pytest.raises(UsageError, match="a number from 0"):
        worth(cost_weight=-1.0)
    assert service.routing.standing(ADA, NAME).settings["cost_weight"] == 0.4


def test_judging_weighs_as_it_is_told_or_as_the_newest_decision(service: MemoryService) -> None:
    for n in range(40):
        made = service.routing.route(ADA, NAME, f"mend it {n}", ARMS, cost_weight=0.3)
        service.routing.reward(ADA, made.decision, Outcome(1.0, cost=1.0))
    as_it_was = {v.policy: v.snips.value for v in service.routing.judge(ADA, NAME).policies}
    assert as_it_was["as it was"] == pytest.approx(0.7)
    told = service.routing.judge(ADA, NAME, cost_weight=1.0)
    assert (told.cost_weight, told.latency_weight) == (1.0, 0.002)
    assert next(v for v in told.policies if v.policy == "as it was").snips.value == pytest.approx(0)


def test_what_arms_were_named_with_is_known_when_the_log_is_judged(service: MemoryService) -> None:
    arms = [Contender("a", 0.7, 0.2, 3.0), Contender("b")]
    made = service.routing.route(ADA, NAME, "mend it", arms)
    service.routing.reward(ADA, made.decision, Outcome(1.0))
    with service.database.reading() as execute:
        number = execute("SELECT number FROM scopes WHERE name = 'web'")[0][0]
        (came,) = log.arrived(execute, number, "default")
    assert came.priors == {"a": Arm("a", 0.7, 0.2, 3.0), "b": Arm("b")}


def test_an_older_log_knows_of_no_priors(service: MemoryService) -> None:
    made = routed(service)
    with service.database.reading() as execute:
        ((text,),) = execute("SELECT beliefs FROM route_decisions WHERE id = ?", (made.decision,))
    older = [{k: v for k, v in each.items() if k != "before"} for each in json.loads(text)]
    read = log.read_beliefs(json.dumps(older))
    assert [belief.before for belief in read] == [(0.5, 0.0, 0.0)] * 2


def test_status_knows_arms_that_were_never_drawn_and_says_where_nothing_is_known(
    service: MemoryService,
) -> None:
    made = routed(service)
    arms = {arm.arm: arm for arm in service.routing.standing(RHEA, NAME).arms}
    assert arms.keys() == {"a", "b"}
    assert sorted(arm.drawn for arm in arms.values()) == [0, 1]
    assert all(arm.success is None for arm in arms.values())
    service.routing.reward(ADA, made.decision, Outcome(0.0))
    arms = {arm.arm: arm for arm in service.routing.standing(RHEA, NAME).arms}
    assert arms[made.arm].success == 0.0


def test_a_scope_that_is_not_there_is_refused_in_the_same_words_as_a_strangers(
    service: MemoryService,
) -> None:
    service.make_scope(Scope("acme", "project", "hidden"))
    said = []
    for name in ("hidden", "nowhere"):
        with pytest.raises(Denied, match="or there is no such scope") as caught:
            service.routing.standing(ADA, f"acme/project/{name}")
        said.append(str(caught.value).replace(name, "NAME"))
    assert said[0] == said[1]


def test_an_outcome_is_told_once(service: MemoryService) -> None:
    made = routed(service)
    assert service.routing.reward(ADA, made.decision, Outcome(1.0)).new
    assert not service.routing.reward(ADA, made.decision, Outcome(1.0)).new
    with pytest.raises(UsageError, match="something else"):
        service.routing.reward(ADA, made.decision, Outcome(0.0))
    assert service.routing.explain(ADA, made.decision).success == 1.0


def test_what_came_back_is_learned_also_by_another_process(service: MemoryService) -> None:
    for n in range(40):
        made = routed(service, task=f"mend it, number {n}")
        service.routing.reward(ADA, made.decision, Outcome(float(made.arm == "b")))
    other = MemoryService(service.folder)
    try:
        found = other.routing.route(ADA, NAME, "mend it again", ARMS)
    finally:
        other.close()
    worth = {arm.arm: arm.worth for arm in found.arms}
    assert worth["b"] > worth["a"] + 0.3 and sum(arm.seen for arm in found.arms) == 40
    # Beliefs lag behind the newest few outcomes; in another order of arms they are made anew.
    anew = service.routing.route(ADA, NAME, "mend it again", ARMS[::-1])
    assert {arm.arm: arm.worth for arm in anew.arms} == pytest.approx(worth)


def test_routers_of_a_scope_and_scopes_are_apart(service: MemoryService) -> None:
    for _ in range(12):
        made = routed(service, router="night")
        service.routing.reward(ADA, made.decision, Outcome(1.0))
    assert sum(arm.seen for arm in routed(service).arms) == 0
    assert service.routing.standing(ADA, NAME).routers == ("default", "night")
    service.make_scope(Scope("acme", "project", "other"))
    other = Caller("acme", "ada", writes=frozenset({Scope("acme", "project", "other")}))
    found = service.routing.route(other, "acme/project/other", "mend it", ARMS, router="night")
    assert sum(arm.seen for arm in found.arms) == 0


def test_only_who_has_the_right_may_and_others_learn_nothing(service: MemoryService) -> None:
    made = routed(service)
    for verb in (
        lambda: routed(service, RHEA),
        lambda: routed(service, SAM),
        lambda: service.routing.standing(SAM, NAME),
        lambda: service.routing.standing(WALT, NAME),
        lambda: service.routing.judge(SAM, NAME),
    ):
        with pytest.raises(Denied):
            verb()
    for unknown in (
        lambda: service.routing.explain(SAM, made.decision),
        lambda: service.routing.explain(WALT, made.decision),
        lambda: service.routing.reward(RHEA, made.decision, Outcome(1.0)),
        lambda: service.routing.reward(ADA, "d0", Outcome(1.0)),
    ):
        with pytest.raises(UnknownName):
            unknown()
    assert routed(service, WALT).arm in ("a", "b")
    service.flush()
    with service.database.reading() as execute:
        kept = execute("SELECT who, verb, outcome FROM audit WHERE verb = 'route' ORDER BY seq")
    assert ("ada", "route", "granted") in kept and ("rhea", "route", "denied") in kept


def test_secrets_reach_neither_the_log_nor_the_words(service: MemoryService) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    made = routed(service, task=f"push with {secret}", seen=f"token {secret}")
    assert secret not in service.routing.explain(ADA, made.decision).task
    service.flush()
    with service.database.reading() as execute:
        rows = execute("SELECT context, beliefs, speaks FROM route_decisions")
    assert secret not in str(rows)


def test_nonsense_is_refused_in_words(service: MemoryService) -> None:
    with pytest.raises(UsageError, match="for a task"):
        routed(service, task="  ")
    with pytest.raises(UsageError, match="nobody can get"):
        service.routing.route(ADA, NAME, "x", [])
    with pytest.raises(UsageError, match="finite"):
        service.routing.route(ADA, NAME, "x", [Contender("a", success=float("nan"))])
    with pytest.raises(UsageError, match="tags are texts"):
        service.routing.route(ADA, NAME, "x", ARMS, tags={"a": 1})  # type: ignore[dict-item]
    with pytest.raises(UsageError, match="router"):
        routed(service, router="")
    with pytest.raises(UsageError, match="says nothing"):
        service.routing.judge(ADA, NAME)


def test_erasing_takes_decisions_and_what_was_learned_of_them(service: MemoryService) -> None:
    walt = replace(WALT, reads=HERE)
    for n in range(20):
        made = routed(service, walt if n % 2 else ADA)
        service.routing.reward(ADA, made.decision, Outcome(1.0))
    assert sum(arm.seen for arm in routed(service).arms) == 20
    done = service.erase(ADA, NAME, "asked for", person="walt")
    assert done.counts["routes"] == 10
    assert service.routing.standing(ADA, NAME).outcomes == 10
    assert sum(arm.seen for arm in routed(service).arms) == 10
    service.erase(ADA, NAME, "asked for")
    with service.database.reading() as execute:
        assert not execute("SELECT 1 FROM route_decisions") + execute(
            "SELECT 1 FROM route_outcomes"
        )


def test_what_stands_in_the_log_cannot_be_changed(service: MemoryService) -> None:
    routed(service)
    with pytest.raises(Guarded), service.database.writing() as execute:
        execute("UPDATE route_decisions SET propensity = 1.0")


def test_the_promoted_settings_are_those_that_run(service: MemoryService, tmp_path: Path) -> None:
    path = tmp_path / "home" / "archive.db"
    note_archive(service.database, path)
    with SqliteArchive(path) as archive:
        ledger, place = Ledger(archive), Place("domain", "routing")
        values = {**SPACE.defaults(), "floor": 0.4, "boldness": 0.0}
        entry = change(ledger, values, place, reason="a test", evidence={})
        assert service.routing.standing(ADA, NAME).settings["floor"] == 0.05  # it waits
        ledger.approve(entry.subject, place, by="Ada")
    service.routing._settings._known.clear()  # as after some seconds
    standing = service.routing.standing(ADA, NAME)
    assert (standing.settings["floor"], standing.settings_from) == (0.4, "domain:routing")
    assert sorted(a.propensity for a in routed(service).arms) == pytest.approx([0.2, 0.8])
    with SqliteArchive(path) as archive:
        Ledger(archive).undo(entry.subject, place, by="Ada", reason="a test")
    service.routing._settings._known.clear()
    assert service.routing.standing(ADA, NAME).settings == Settings().to_json()


def test_what_is_learned_for_a_scope_runs_in_it_alone(
    service: MemoryService, tmp_path: Path
) -> None:
    """As a run promotes it: metamem learn routing --setting scope=acme/project/web."""
    path = tmp_path / "home" / "archive.db"
    note_archive(service.database, path)
    domain = RoutingDomain(scope=NAME, train=1, valid=1, test=1, shift=1)
    with SqliteArchive(path) as archive:
        ledger, design = Ledger(archive), domain.space.design({**SPACE.defaults(), "floor": 0.4})
        Parameters().promote(ledger, design, domain, "a test", {}, None)  # type: ignore[arg-type]
        (entry,), place = ledger.pending(), Place("scope", NAME)
        assert service.routing.standing(ADA, NAME).settings["floor"] == 0.05  # it waits
        ledger.approve(entry.subject, place, by="Ada")
    service.routing._settings._known.clear()
    standing = service.routing.standing(ADA, NAME)
    assert (standing.settings["floor"], standing.settings_from) == (0.4, f"scope:{NAME}")
    assert service.routing._settings.of("acme/project/other").origin == "defaults"


def test_settings_that_cannot_be_used_are_told_and_the_next_run(
    service: MemoryService, tmp_path: Path
) -> None:
    path = tmp_path / "home" / "archive.db"
    note_archive(service.database, path)
    with SqliteArchive(path) as archive:
        ledger, place = Ledger(archive), Place("domain", "routing")
        values = {**SPACE.defaults(), "cost_weight": 3.0}  # as older versions had it
        entry = change(ledger, values, place, reason="a test", evidence={})
        ledger.approve(entry.subject, place, by="Ada")
        loaves = change(ledger, {"degrees": 200}, Place("scope", NAME), reason="a", evidence={})
        ledger.approve(loaves.subject, Place("scope", NAME), by="Ada")
    standing = service.routing.standing(ADA, NAME)
    assert standing.settings_from == "defaults" and standing.settings == Settings().to_json()
    assert "cannot be used" in standing.warning and "cost_weight" in standing.warning
    assert "degrees" not in standing.warning  # the parameters of something else
    assert routed(service).arm in ("a", "b")


def test_an_archive_that_cannot_be_read_stops_no_routing(
    service: MemoryService, tmp_path: Path
) -> None:
    path = tmp_path / "archive.db"
    note_archive(service.database, path)
    path.write_text("no database at all" * 100)
    assert routed(service).arm in ("a", "b")
    told = service.routing.standing(ADA, NAME).warning
    assert "an archive cannot be read" in told and str(tmp_path) not in told


def test_a_loop_that_is_open_or_one_sided_is_told() -> None:
    assert "nobody asked" in parts.warning(0, 0, [])
    assert parts.warning(9, 0, ["a"] * 9) == ""
    assert "none has an outcome" in parts.warning(10, 0, ["a"] * 10)
    assert parts.warning(300, 250, ["a"] * 199 + ["b"]) == ""
    assert "all went to a" in parts.warning(300, 250, ["a"] * 200)


def test_health_tells_of_routers_that_are_never_told(service: MemoryService) -> None:
    assert service.routing.warning() == ""
    made = [routed(service) for _ in range(10)]
    assert "1 router is asked and never told" in service.routing.warning()
    service.routing.reward(ADA, made[0].decision, Outcome(1.0))
    assert service.routing.warning() == ""


def _process(folder: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.service.routing.killed", str(folder), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_kill_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    process = _process(tmp_path, "one")
    assert process.stdout is not None
    said = [process.stdout.readline().split() for _ in range(25)]
    os.kill(process.pid, signal.SIGKILL)
    said += [line.split() for line in process.stdout.read().splitlines()]
    process.wait()
    service = MemoryService(tmp_path)
    try:
        caller = service.local_caller()
        for what, decision, *told in said:
            if what == "made":
                found = service.routing.explain(caller, decision)
                assert [found.arm, repr(found.propensity)] == told
            elif what == "told":
                assert service.routing.explain(caller, decision).rewarded
        assert service.routing.standing(caller, OWN).decisions >= sum(w == "made" for w, *_ in said)
        service.routing.route(caller, OWN, "after it", ARMS)
    finally:
        service.close()


def test_two_processes_share_one_log(tmp_path: Path) -> None:
    processes = [_process(tmp_path, name, "15") for name in ("one", "two")]
    for process in processes:
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0 and out.count("made") == 15
    service = MemoryService(tmp_path)
    try:
        caller = service.local_caller()
        assert service.routing.standing(caller, OWN).decisions == 30
        assert service.routing.standing(caller, OWN).outcomes == 20
        with service.database.reading() as execute:
            numbers = [n for (n,) in execute("SELECT number FROM route_decisions ORDER BY seq")]
        assert sorted(numbers) == list(range(1, 31))
    finally:
        service.close()
