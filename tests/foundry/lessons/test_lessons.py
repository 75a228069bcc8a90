"""Lessons: what keeps going wrong, what was measured and what ended well are found; noise teaches nothing."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from metamem.cli.main import run as metamem
from metamem.core.errors import UsageError
from metamem.foundry.failures import store as failures
from metamem.foundry.failures.effect import draw
from metamem.foundry.foundry import Foundry
from metamem.foundry.lessons import forgetting, store
from metamem.foundry.lessons.drawing import Drawn
from metamem.foundry.lessons.taking import MANY, standing
from metamem.foundry.report import report
from metamem.foundry.telling import as_markdown
from metamem.foundry.tidying import UNUSED, tidy
from metamem.foundry.workflows import store as workflows
from metamem.service.words import Session, ToolCall, Turn
from tests.foundry.tools.shop import BEGAN, HOUR, Shop, opened

Ran = tuple[str, int]  # a command, and how it ended


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with opened(tmp_path, sessions=0) as made:
        yield made


def session(shop: Shop, name: str, runs: list[Ran], at: int, goal: str = "tidy up") -> None:
    calls = [
        ToolCall(f"{name}-{n}", "Bash", {"command": command}, "", "it broke" if code else "", bool(code), code,
                 at=at + n, prompt=f"{name}-p")
        for n, (command, code) in enumerate(runs)
    ]  # fmt: skip
    turns = (Turn("user", goal, "user", at, f"{name}-p"),)
    about = Session(name, turns, "claude-code", started_at=at, ended_at=at + 500)
    shop.service.local().ingest(str(shop.site.scope), about)
    shop.service.local().keep_calls(str(shop.site.scope), about, calls)


def learn(shop: Shop) -> int:
    return Foundry(shop.site, shop.judge, clock=lambda: shop.now[0]).take_in().lessons


def found(shop: Shop, *, archived: bool = False) -> list[store.Lesson]:
    with shop.site.database.reading() as execute:
        return store.lessons(execute, shop.site.number, archived=archived)


def test_a_session_that_ended_well_is_told_with_its_calls(shop: Shop) -> None:
    session(shop, "a", [("make report", 0), ("pytest -q", 0)], BEGAN, "write the yearly report")
    session(shop, "b", [("make report", 0), ("pytest -q", 1)], BEGAN + HOUR, "write it again")
    assert learn(shop) == 1
    (lesson,) = found(shop)
    assert (lesson.kind, lesson.evidence["by"]) == ("success", "tests")
    assert lesson.evidence["goal"] == "write the yearly report"
    assert lesson.evidence["calls"] == ["`make report`", "`pytest -q`"]
    with shop.site.database.reading() as execute:
        like = store.successes(execute, shop.site.number, "the yearly report, please write it")
        assert [each.id for each in like] == [lesson.id]
        assert store.successes(execute, shop.site.number, "paint the shed") == []
    assert learn(shop) == 0  # looking twice is looking once
    assert found(shop) == [lesson]


def test_a_step_after_which_the_next_fails_is_a_pattern_and_one_without_is_none(shop: Shop) -> None:
    luck = Random(1)
    for n in range(24):
        others = [(f"build part{k}", int(luck.random() < 0.05)) for k in range(8)]
        session(shop, f"s{n}", [*others[:4], ("make clean", 0), ("deploy it", 1), *others[4:]],
                BEGAN + n * HOUR)  # fmt: skip
    learn(shop)
    habits = [each for each in found(shop) if "step" in each.evidence]
    assert [each.evidence["step"] for each in habits] == ["make clean"]
    assert habits[0].sessions == 24
    told = as_markdown(report(shop.site, since=0, until=BEGAN * 2))
    assert (
        "## What keeps going wrong\n\n- after `make clean` the next call failed in 24 of 24" in told
    )


@pytest.mark.parametrize("seed", range(5))
def test_noise_teaches_no_patterns_and_no_insights(shop: Shop, seed: int) -> None:
    luck = Random(seed)
    for n in range(40):
        runs = [(f"tool{luck.randrange(12)} go", int(luck.random() < 0.3)) for _ in range(9)]
        session(shop, f"s{n}", runs, BEGAN + n * HOUR)
    learn(shop)
    with shop.site.database.reading() as execute:
        habits = [p for p in store.patterns(execute, shop.site.number) if "step" in p.evidence]
        assert (habits, store.insights(execute, shop.site.number)) == ([], [])
        counted = standing(execute, shop.site.number)
    assert (counted.sessions, counted.reliable) == (40, 0)
    assert "how they ended" in counted.warning  # nothing could be a success


@pytest.mark.parametrize(("helps", "insights"), [(True, 1), (False, 0)])
def test_a_measured_effect_is_an_insight(shop: Shop, helps: bool, insights: int) -> None:
    for n in range(3):
        session(shop, f"s{n}", [("pytest -q", 127), ("uv run pytest -q", 0)], BEGAN + n * HOUR)
    learn(shop)
    scope, luck = shop.site.number, Random(4)
    with shop.site.database.writing() as execute:
        (failure,) = failures.failures(execute, scope)
        (resolution, *_) = failures.resolutions(execute, scope, failure.signature)
        for n in range(400):
            moment = draw(
                execute, scope, f"m{n}", failure.signature, resolution.id, place="retry", at=n
            )
            likely = 0.9 if helps and not moment.withheld else 0.3
            execute(
                "UPDATE suggestion_moments SET outcome = ?, repeated = 0 WHERE scope = ? AND session = ?",
                (float(luck.random() < likely), scope, f"m{n}"),
            )
    session(shop, "later", [("ls", 0)], BEGAN + 9 * HOUR)  # something came: it is drawn anew
    learn(shop)
    with shop.site.database.reading() as execute:
        seen = store.insights(execute, scope)
    assert len(seen) == insights
    assert all("uv run pytest" in each.text and "before a retry" in each.text for each in seen)
    told = as_markdown(report(shop.site, since=0, until=BEGAN * 2))
    assert ("## What was measured" in told) is helps


@pytest.mark.parametrize(("matters", "insights"), [(True, 1), (False, 0)])
def test_a_step_that_some_leave_out_is_an_insight_where_it_matters(
    shop: Shop, matters: bool, insights: int
) -> None:
    luck = Random(3)
    for n in range(64):
        careful = n % 2 == 0
        lint = [("ruff check src", 0)] if careful else []
        broken = luck.random() < (0.1 if careful or not matters else 0.9)
        runs = [
            (f"python bump.py 1.{n}.0", 0),
            *lint,
            (f"git tag v1.{n}.0", 0),
            ("pytest -q", int(broken)),
        ]
        session(shop, f"s{n}", runs, BEGAN + n * HOUR, f"bump to 1.{n}.0")
    Foundry(shop.site, shop.judge, clock=lambda: shop.now[0]).take_in()
    with shop.site.database.reading() as execute:
        (kept,) = workflows.workflows(execute, shop.site.number)
        assert [step.optional for step in kept.workflow.steps].count(True) == 1
        seen = store.insights(execute, shop.site.number)
    assert len(seen) == insights
    for each in seen:
        assert "sessions with `ruff` and" in each.text and "seen and not tested" in each.text


def test_at_most_a_thousand_are_active_and_the_rest_comes_back(shop: Shop) -> None:
    one = Drawn("success", ("x",), "it went well", {"goal": "g", "calls": [], "at": 1}, 0.5, ("s",))
    many = [replace(one, key=(str(n),), worth=n / 2000) for n in range(store.ACTIVE + 7)]
    scope = shop.site.number
    with shop.site.database.writing() as execute:
        assert store.keep(execute, scope, many, 5) == len(many)
    assert len(found(shop)) == store.ACTIVE
    away = found(shop, archived=True)
    assert {each.worth for each in away} == {n / 2000 for n in range(7)}
    with shop.site.database.writing() as execute:
        assert store.keep(execute, scope, many, 6) == 0  # drawn again it stays as it was
        store.restore(execute, scope, away[0].id, at=7)
        assert store.keep(execute, scope, many, 8) == 0  # what a person brought back stays
        with pytest.raises(UsageError):
            store.restore(execute, scope, "nothing", at=7)
    assert away[0].id in {each.id for each in found(shop)}
    assert len(found(shop)) == store.ACTIVE and len(found(shop, archived=True)) == 7


def test_what_no_session_taught_for_long_is_put_away_and_restored(shop: Shop, capsys) -> None:
    session(shop, "a", [("make report", 0), ("pytest -q", 0)], BEGAN, "write the yearly report")
    learn(shop)
    session(shop, "b", [("make shed", 0), ("pytest -q", 0)], BEGAN + UNUSED + HOUR, "paint it")
    shop.now[0] = BEGAN + UNUSED + 2 * HOUR
    learn(shop)
    assert tidy(shop.site, at=shop.now[0]).lessons == 1
    assert tidy(shop.site, at=shop.now[0]).lessons == 0
    (away,) = found(shop, archived=True)
    assert away.evidence["goal"] == "write the yearly report"
    learn(shop)
    assert found(shop, archived=True) == [away]
    place = ["--memory", str(shop.memory), "--scope", str(shop.site.scope)]
    assert metamem(["foundry", "lessons", "--archived", *place, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["id"] == away.id
    assert metamem(["foundry", "restore", away.id[:10], *place]) == 0
    assert found(shop, archived=True) == []
    assert metamem(["foundry", "lessons", *place]) == 0
    assert "write the yearly report" in capsys.readouterr().out


def test_what_is_erased_teaches_nothing_any_more(shop: Shop) -> None:
    session(shop, "a", [("make zanzibar", 0), ("pytest -q", 0)], BEGAN, "zanzibar, please")
    session(shop, "b", [("make shed", 0), ("pytest -q", 0)], BEGAN + HOUR, "paint the shed")
    learn(shop)
    assert len(found(shop)) == 2
    with shop.site.database.writing() as execute:
        execute("DELETE FROM calls WHERE scope = ? AND session = 'a'", (shop.site.number,))
        assert forgetting.forget(execute) == {"lessons": 1}
        rows = [
            *execute("SELECT * FROM lessons"),
            *execute("SELECT * FROM lesson_sessions"),
            *execute("SELECT * FROM lesson_calls"),
        ]
    assert "zanzibar" not in repr(rows) and "shed" in repr(rows)


def test_many_sessions_without_any_lesson_are_worth_a_warning(shop: Shop) -> None:
    for n in range(MANY):
        session(shop, f"s{n}", [("pytest -q", 1)], BEGAN + n * HOUR, f"goal {n}")
    with shop.site.database.reading() as execute:
        assert standing(execute, shop.site.number).warning == ""  # nobody looked yet
    learn(shop)
    with shop.site.database.writing() as execute:
        execute("DELETE FROM lessons")
        assert "no lesson was drawn" in standing(execute, shop.site.number).warning
