"""One round of Foundry: what is repeated becomes a tool that waits, nothing is done twice, null finds nothing."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from metamem.foundry.acts import acts
from metamem.foundry.alarms import HELD_OUT
from metamem.foundry.foundry import Foundry
from metamem.foundry.tools import cooling, store
from metamem.foundry.tools.cooling import cools
from metamem.foundry.tools.verdict import Verdict
from metamem.sandbox import bubblewrap
from metamem.service.words import Session, ToolCall, Turn
from tests.foundry.tools.made import git
from tests.foundry.tools.shop import BEGAN, HOUR, Shop, opened
from tests.foundry.workflows.planted import null

DAY = 86_400_000


@pytest.fixture
def lived(tmp_path: Path) -> Iterator[Shop]:
    with opened(tmp_path) as made:
        yield made


def did(shop: Shop) -> list[str]:
    with shop.site.database.reading() as execute:
        return [each.what for each in acts(execute, shop.site.number)]


def test_a_round_takes_in_judges_and_waits_for_a_person(lived: Shop) -> None:
    done = asyncio.run(lived.foundry.round())
    assert done.took.sessions == 40 and done.took.occurrences == 40
    assert [v.decided for v in done.judged] == ["promoted"]
    assert done.settled == () and done.watched == () and lived.names() == []
    assert len(lived.site.ledger.pending()) == 1
    evidence = lived.site.ledger.pending()[0].evidence
    assert evidence == {"workflow": done.judged[0].workflow, "writer": "template", "replays": 24,
                        "equal": 24, "not replayable": 0, "lower": 0.82}  # fmt: skip


def test_a_second_round_does_nothing(lived: Shop) -> None:
    asyncio.run(lived.foundry.round())
    before = did(lived), len(lived.site.archive.promotions())
    for _ in range(3):
        again = asyncio.run(lived.foundry.round())
        assert again.judged == () and again.settled == () and again.took.occurrences == 0
    assert (did(lived), len(lived.site.archive.promotions())) == before
    # Neither does another process that begins where this one ended.
    other = Foundry(lived.site, lived.judge, clock=lambda: lived.now[0])
    assert asyncio.run(other.round()).judged == () and len(lived.judge.judged) == 1


def test_the_ledger_holds_no_words_of_anybody(lived: Shop) -> None:
    asyncio.run(lived.foundry.round())
    tool = lived.site.ledger.pending()[0].subject.id
    lived.foundry.approve(tool, by="Ada")
    lived.foundry.undo(tool, by="Ada", reason="x")
    told = " ".join(str(entry) for entry in lived.site.archive.promotions())
    assert not any(word in told.lower() for word in ("release", "version", "changelog"))


def test_acts_tell_all_that_was_done(lived: Shop) -> None:
    name = lived.deploy()
    lived.foundry.undo(name, by="Ada", reason="slow")
    assert did(lived) == ["mined", "took in", "promoted", "deployed", "withdrawn"]


def test_four_uses_or_too_few_successes_begin_nothing(tmp_path: Path) -> None:
    with opened(tmp_path, sessions=4) as shop:
        asyncio.run(shop.foundry.round())
        assert shop.judge.judged == [] and "judged" not in did(shop)


def test_with_too_few_cases_nothing_is_replayed(tmp_path: Path) -> None:
    with opened(tmp_path, sessions=16) as shop:
        (verdict,) = asyncio.run(shop.foundry.round()).judged
        assert verdict.decided == "waits" and "not enough data yet" in verdict.why
        assert f"it takes {HELD_OUT} at least" in verdict.why
        assert shop.judge.judged == [] and shop.site.archive.promotions() == []


def test_what_was_refused_cools_down(lived: Shop) -> None:
    lived.judge.decided = "refused"
    (verdict,) = asyncio.run(lived.foundry.round()).judged
    assert verdict.decided == "refused"
    assert lived.site.archive.promotions()[-1].decision == "refused"
    lived.more(40, 30)
    for _ in range(3):
        assert asyncio.run(lived.foundry.round()).judged == ()
    lived.now[0] += 8 * DAY  # a week later, and there is something new
    assert [v.decided for v in asyncio.run(lived.foundry.round()).judged] == ["refused"]
    lived.now[0] += 8 * DAY  # nothing new
    assert asyncio.run(lived.foundry.round()).judged == ()
    assert len(lived.judge.judged) == 2


def test_after_five_refusals_only_cases_count(lived: Shop) -> None:
    with lived.site.database.writing() as execute:
        for number in range(5):
            given = Verdict("w", "refused", "it differs")
            cooling.enter_judgement(execute, lived.site.number, given, at=number * DAY, known=20 + number)  # fmt: skip
        scope = lived.site.number
        assert cools(execute, scope, "w", 30, 400 * DAY)
        assert not cools(execute, scope, "w", 48, 5 * DAY)
        assert not cools(execute, scope, "other", 1, 0)


def test_a_tool_that_a_person_turned_down_is_not_offered_again(lived: Shop) -> None:
    tool = lived.tool()
    with lived.site.database.reading() as execute:
        slot = store.tool_of(execute, lived.site.number, tool).slot
    about = lived.site.ledger.pending()[0].subject
    lived.site.ledger.reject(about, lived.site.place, by="Ada", reason="no")
    lived.foundry.deploy()
    lived.more(40, 40)
    (verdict,) = asyncio.run(lived.foundry.round()).judged
    assert (verdict.decided, verdict.tool) == ("none", None) and "turned it down" in verdict.why
    assert lived.site.ledger.pending() == []
    lived.judge.change = "\n# another one\n"  # the next is another program: it may be offered
    lived.more(80, 80)
    (verdict,) = asyncio.run(lived.foundry.round()).judged
    assert verdict.decided == "promoted"
    (waits,) = lived.site.ledger.pending()
    assert waits.subject.name == slot  # a further version of the same tool


def test_after_it_turned_bad_only_cases_since_then_count(lived: Shop) -> None:
    """What was done before says nothing of the world as it is now."""
    name = lived.deploy()
    for number in range(4):
        (lived.folder / "VERSION").unlink(missing_ok=True)
        given = [each.name for each in lived.foundry.deployed()[0].kept.tool.given]
        lived.run(name, **dict.fromkeys(given, f"{number}"))
    assert lived.names() == []
    seen: list[int] = []

    async def judge(candidate, trace_of, writer):  # type: ignore[no-untyped-def]
        seen.append(len(candidate.held_out))
        return await lived.judge(candidate, trace_of, writer)

    foundry = Foundry(lived.site, judge, clock=lambda: lived.now[0])
    lived.more(50, 40)
    assert [v.decided for v in asyncio.run(foundry.round()).judged] == ["promoted"]
    assert HELD_OUT <= seen[0] < 40  # of sixty that were held out in all


def test_null_worlds_crystallise_nothing(tmp_path: Path) -> None:
    """Forty sessions in which nothing repeats, in five worlds: no workflow, no verdict, no tool."""
    with opened(tmp_path, sessions=0) as shop:
        mine, scope = shop.service.local(), str(shop.site.scope)
        for seed in range(5):
            for trace in null(seed, 40):
                at = BEGAN + (seed * 100 + Random(trace.session).randint(0, 99)) * HOUR
                turns = (Turn("user", "a job", "user", at, "p"),)
                about = Session(f"{seed}-{trace.session}", turns, "claude-code", started_at=at)
                calls = [ToolCall(u.id, u.tool, u.arguments, u.result, failed=False, at=at, prompt="p")
                         for u in trace.uses]  # fmt: skip
                mine.ingest(scope, about)
                mine.keep_calls(scope, about, calls)
            shop.now[0] = BEGAN + (seed + 1) * 100 * HOUR
            done = asyncio.run(shop.foundry.round())
            assert done.judged == () and shop.names() == []
        assert shop.judge.judged == [] and shop.site.archive.promotions() == []
        assert "promoted" not in did(shop)


def test_it_warns_where_the_loop_is_open(lived: Shop) -> None:
    lived.more(40, 20)
    lived.foundry.take_in()
    assert lived.foundry.warnings() == ["1 workflow could be judged, and none ever was"]
    tool = lived.tool()
    assert lived.foundry.warnings() == []
    lived.now[0] += 8 * DAY
    (told,) = lived.foundry.warnings()
    assert "1 tool waited for a person for more than a week" in told
    lived.foundry.approve(tool, by="Ada")
    assert lived.foundry.warnings() == []


def test_at_most_a_thousand_tools_are_active(tmp_path: Path) -> None:
    with opened(tmp_path, sessions=0) as shop:
        tool = shop.offer("print(1)")
        first = shop.offer("print(2)", "second")
        with shop.site.database.writing() as execute:
            store.set_state(execute, shop.site.number, first, "refused")
            assert store.archive_rest(execute, shop.site.number, 1) == 1
            assert [t.id for t in store.tools(execute, shop.site.number)] == [tool]
            (away,) = store.tools(execute, shop.site.number, archived=True)
            assert away.id == first
            at = shop.now[0] + 40 * DAY
            store.restore(execute, shop.site.number, first, at=at)
            assert store.archive_unused(execute, shop.site.number, at) == 0
            assert len(store.tools(execute, shop.site.number)) == 2
            # What waits is never put away.
            assert store.archive_rest(execute, shop.site.number, 0) == 1
            assert [t.id for t in store.tools(execute, shop.site.number)] == [tool]


@pytest.mark.slow
@pytest.mark.skipif(not bubblewrap.works(), reason="bwrap does not work here")
def test_from_sessions_to_a_tool_in_use_with_nothing_in_its_place(tmp_path: Path) -> None:
    """Real sessions in a real tree, judged by replays in the jail, approved, used, undone."""
    with opened(tmp_path, sessions=0) as shop:
        commit = git(shop.folder, "rev-parse", "HEAD")
        from tests.foundry.tools.shop import release

        for number in range(34):
            release(shop.service, shop.site.scope, number, shop.folder, commit, old="1.2.3")
        shop.now[0] = BEGAN + 40 * HOUR
        foundry = Foundry(shop.site, clock=lambda: shop.now[0])
        (verdict,) = asyncio.run(foundry.round()).judged
        assert verdict.decided == "promoted", verdict.why
        assert verdict.tool is not None and foundry.deployed() == []
        (done,) = foundry.approve(verdict.tool.id, by="Ada")
        given = [each.name for each in verdict.tool.given]
        ran = asyncio.run(foundry.run(done.name, shop.folder, dict(zip(given, ("1.9.0", "colour"), strict=True))))  # fmt: skip
        assert ran.worked, ran.output
        assert (shop.folder / "VERSION").read_text() == "1.9.0\n"
        (gone,) = foundry.undo(done.name, by="Ada", reason="x")
        assert gone.what == "withdrawn" and foundry.deployed() == []
