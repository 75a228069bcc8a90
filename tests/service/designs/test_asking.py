"""Served designs that ask a model: answered, paid once, capped, and erased with their scope."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from metamem.core.errors import Busy, UsageError
from metamem.core.types import Query
from metamem.models.allowance import Allowance
from metamem.service.designs.starting import served_designs
from metamem.service.designs.words import Advised
from metamem.service.enriching import enriching, enriching_beside
from metamem.service.metered import PaidModel, metered
from metamem.service.service import MemoryService
from metamem.service.words import Session, Turn
from metamem.store.records import Place, Subject
from tests.service.designs.asking import (
    ANOTHER,
    ASKED,
    ASKING,
    AWAY,
    DIES_AT,
    ELSEWHERE,
    ENOUGH,
    GATE,
    MODEL,
    ONE,
    OTHER,
    OWNER,
    SAID,
    WAITING,
    asking,
    forget_snapshots,
    until,
    words,
)
from tests.service.designs.parts import MEMBER, NAME, WRITER, Home, lived, serving


@pytest.fixture(autouse=True)
def nobody_asked() -> Iterator[None]:
    for several in (ASKED, AWAY, GATE):
        several.clear()
    yield


@pytest.fixture
def home(home: Home) -> Home:
    home.put_to_use(ASKING)
    return home


def said(*numbers: int) -> list[str]:
    return [f"{SAID}{number}" for number in numbers]


def on_disk(home: Home) -> list[Path]:
    """Files that hold what the model said."""
    files = [path for path in home.folder.rglob("*") if path.is_file()]
    return [path for path in files if SAID.encode() in path.read_bytes()]


async def anybody_asked() -> list[str]:
    return ASKED


async def live(home: Home, *goals: str) -> None:
    async with asking(home) as served:
        for goal in goals:
            await served.experience(MEMBER, NAME, lived(goal))
        await words(served)


async def test_it_is_answered_and_what_was_paid_once_is_not_paid_again(home: Home) -> None:
    async with asking(home) as served:
        for goal in ("one", "two"):
            assert not (await served.experience(MEMBER, NAME, lived(goal))).note
        assert await words(served) == said(1, 2, 3)
        assert await words(served) == said(1, 2, 3)
        told = served.status()["model"]
    assert ASKED == ["one", "two", "and now?"]
    assert (told["asked"], told["replayed"], told["warning"]) == (4, 1, "")
    for _ in range(2):
        async with asking(home) as served:
            assert await words(served) == said(1, 2, 3)
            assert served.status()["model"]["tokens"] == told["tokens"] > 0
        forget_snapshots(home)
    assert len(ASKED) == 3
    async with asking(home) as served:
        await served.experience(MEMBER, NAME, lived("three"))
        assert await words(served) == said(1, 2, 4, 5)


async def test_without_a_model_it_is_as_before_and_with_it_again_free(home: Home) -> None:
    await live(home, "one", "two")
    async with serving(home) as served:
        assert await words(served) == ["nothing"] * 3
        assert served.status()["model"] is None
    async with asking(home) as served:
        assert await words(served) == said(1, 2, 3)
    async with asking(home, ANOTHER) as served:  # its answers make another memory
        assert await words(served) == ["other4", "other5", "other6"]
    async with asking(home) as served:
        assert await words(served) == said(1, 2, 3)
    assert len(ASKED) == 6


async def test_a_swap_there_and_back_is_paid_once(home: Home) -> None:
    await live(home, "one")
    for there in (True, False, True):
        if there:
            home.put_to_use(OTHER)
        else:
            home.undo(OTHER)
        async with asking(home) as served:
            assert await words(served) == (said(3, 4) if there else said(1, 2))
    assert ASKED == ["one", "and now?"] * 2


async def test_a_spent_budget_stops_learning_and_nothing_else(home: Home) -> None:
    async with asking(home, allowance=ONE) as served:
        assert not (await served.experience(MEMBER, NAME, lived("one"))).note
        found = await served.advise(MEMBER, NAME, Query("and now?"))
        assert found.text == f"{SAID}1 nothing"
        assert "memory went on without a model: the budget" in found.note
    for _ in range(2):  # it holds over restarts
        async with asking(home, allowance=ONE) as served:
            await served.experience(MEMBER, NAME, lived("more"))
            found = await served.advise(MEMBER, NAME, Query("and now?"))
            assert found.text == f"{SAID}1 nothing"
            assert found.note.startswith("memory stands still") and "budget" in found.note
            told = await served.experience(MEMBER, NAME, lived("and more"))
            assert "budget" in told.note
            status = served.status()
            assert status["model"]["stopped"] and "budget" in served.warning()
            assert status["counts"]["behind"] >= 2
            assert status["model"]["tokens"] <= ONE.tokens
    assert ASKED == ["one"]
    async with asking(home) as served:  # what came meanwhile is learned with a larger one
        assert await words(served) == said(1, 2, 3, 4, 5, 6)
        assert not served.warning()
    assert ASKED == ["one", "more", "and more", "more", "and more", "and now?"]


async def test_a_provider_that_fails_costs_no_experience(home: Home) -> None:
    async with asking(home) as served:
        await served.experience(MEMBER, NAME, lived("one"))
        assert await words(served) == said(1, 2)
        AWAY.append(True)
        for goal in ("two", "three"):
            note = (await served.experience(MEMBER, NAME, lived(goal))).note
            assert note.startswith("memory stands still") and "provider" not in note
        found = await served.advise(MEMBER, NAME, Query("else?"))
        assert (found.text, found.note[:19]) == (f"{SAID}1 nothing", "memory stands still")
        assert "provider" not in str(served.status()) and served.warning()
        AWAY.clear()
        assert await words(served) == said(1, 3, 4, 5)
        assert not served.warning()
    forget_snapshots(home)
    async with asking(home) as served:
        assert await words(served) == said(1, 3, 4, 5)
    assert len(ASKED) == 5


async def test_a_provider_that_failed_is_left_alone_for_a_while(home: Home) -> None:
    await live(home, "one")
    AWAY.append(True)
    async with asking(home, retry_seconds=60.0) as served:
        assert await served.advise(MEMBER, NAME, Query("else?"))
        AWAY.clear()
        found = await served.advise(MEMBER, NAME, Query("and then?"))
        assert found.text == f"{SAID}1 nothing"
        assert found.note.startswith("memory went on without a model")
    assert ASKED == ["one", "and now?"]


async def test_a_design_that_cannot_learn_does_not_take_over(home: Home) -> None:
    await live(home, "one")
    async with asking(home) as served:
        assert await words(served) == said(1, 2)
        AWAY.append(True)
        home.put_to_use(OTHER)
        for _ in range(5):
            found = await served.advise(MEMBER, NAME, Query("and now?"))
            assert found.text.split() == said(1, 2)
            await asyncio.sleep(0.1)
        AWAY.clear()

        async def taken_over() -> Advised | None:
            found = await served.advise(MEMBER, NAME, Query("and now?"))
            return found if found.design == OTHER.id else None

        assert (await until(taken_over)).text.split() == said(3, 4)


async def test_a_slow_model_keeps_nobody_waiting_for_long(home: Home) -> None:
    GATE.append(asyncio.Event())
    async with asking(home, WAITING, patience=0.2, answer_seconds=0.2) as served:

        async def advised(goal: str = "and now?") -> Advised | None:
            found = await served.advise(MEMBER, NAME, Query(goal))
            return found if found.text else None

        first = await until(partial(advised, "first?"))
        assert first.text == "nothing" and "did not answer within" in first.note
        told = await served.experience(MEMBER, NAME, lived("one"))
        assert told.position == 0 and "still learning" in told.note
        found = await served.advise(MEMBER, NAME, Query("and now?"))
        assert (found.text, "still learning" in found.note) == ("", True)
        GATE[0].set()
        await until(advised)
        assert (await words(served))[0] == f"{SAID}2"
    assert ASKED == ["first?", "one", "and now?"]


def also_elsewhere(home: Home) -> int:
    number = home.service.make_scope(ELSEWHERE)
    place, subject = Place("scope", str(ELSEWHERE)), Subject("design", ASKING.id)
    home.ledger.promote(subject, place, reason="a test", evidence={})
    home.ledger.approve(subject, place, by="ada", evidence={"without_comparison": "a test"})
    return number


@pytest.mark.slow  # starts processes beside the test, in threads
async def test_scopes_that_ask_the_same_at_once_are_answered_apart(home: Home) -> None:
    also_elsewhere(home)
    GATE.append(asyncio.Event())
    async with asking(home, WAITING) as served:
        both = [asyncio.create_task(words(served, scope)) for scope in (NAME, str(ELSEWHERE))]

        async def both_asked() -> bool:
            return len(ASKED) == 2

        await until(both_asked)
        GATE[0].set()
        await asyncio.gather(*both)
    assert ASKED == ["and now?"] * 2


async def test_scopes_share_no_answer(home: Home) -> None:
    number = also_elsewhere(home)
    async with asking(home) as served:
        for scope in (NAME, str(ELSEWHERE)):
            await served.experience(OWNER, scope, lived("the same"))
        assert await words(served) == said(1, 2)
        assert await words(served, str(ELSEWHERE)) == said(3, 4)
    assert ASKED == ["the same", "and now?"] * 2
    home.service.erase(MEMBER, NAME, "asked to")
    assert home.rows("SELECT DISTINCT scope FROM model_replies") == [(number,)]
    async with asking(home) as served:
        assert await words(served, str(ELSEWHERE)) == said(3, 4)
    assert len(ASKED) == 4


async def test_what_a_model_said_is_erased_with_the_scope(home: Home) -> None:
    async with asking(home) as served:
        await served.experience(WRITER, NAME, lived("one"))
        assert await words(served) == said(1, 2)
    assert on_disk(home)
    async with asking(home) as served:
        assert await words(served) == said(1, 2)
        stone = await asyncio.to_thread(home.service.erase, MEMBER, NAME, "asked to")
        assert stone.counts["model_replies"] == 2
        assert on_disk(home) == []
    assert on_disk(home) == []


async def test_what_was_said_before_a_persons_words_stays(home: Home) -> None:
    async with asking(home) as served:
        await served.experience(MEMBER, NAME, lived("of ada"))
        await served.experience(WRITER, NAME, lived("of walt"))
        await served.experience(MEMBER, NAME, lived("of ada again"))
        assert await words(served) == said(1, 2, 3, 4)
        await asyncio.to_thread(home.service.erase, MEMBER, NAME, "asked to", "walt")
        assert home.rows("SELECT body FROM model_replies") == [
            (f'{{"text": "{SAID}1", "value": null}}',)
        ]
        home.put_to_use(ASKING)  # an erasure withdraws what is in use in the scope
        assert await words(served) == said(1, 5, 6)
    for gone in said(2, 3, 4):
        assert not [path for path in on_disk(home) if f'"{gone}"'.encode() in path.read_bytes()]
    assert ASKED[4:] == ["of ada again", "and now?"]


@pytest.mark.slow  # starts processes beside the test, in threads
@pytest.mark.parametrize("goals", [["one"], []])  # it learns, or it is asked
@pytest.mark.parametrize("elsewhere", [False, True])
async def test_an_answer_that_comes_after_the_erasure_is_not_kept(
    home: Home, elsewhere: bool, goals: list[str]
) -> None:
    GATE.append(asyncio.Event())
    async with asking(home, WAITING) as served:
        for goal in goals:
            await served.experience(MEMBER, NAME, lived(goal))
        advising = asyncio.create_task(served.advise(MEMBER, NAME, Query("now?")))
        await until(anybody_asked)
        service = MemoryService(home.service.folder) if elsewhere else home.service
        await asyncio.to_thread(service.erase, MEMBER, NAME, "asked to", "ada")
        if elsewhere:
            service.close()
        GATE[0].set()
        await asyncio.gather(advising, return_exceptions=True)
        assert ASKED[0] == [*goals, "now?"][0]
        assert home.rows("SELECT * FROM model_replies") == []
    assert [path for path in on_disk(home) if path.suffix == ".snapshot"] == []


PROCESS = """
import asyncio, sys
from pathlib import Path
from tests.service.designs.asking import DYING, asking, words
from tests.service.designs.parts import MEMBER, NAME, Home, lived

async def main():
    home = Home(Path(sys.argv[1]))
    async with asking(home, DYING) as served:
        for goal in sys.argv[2:]:
            await served.experience(MEMBER, NAME, lived(goal))
        print(*await words(served))
    home.close()

asyncio.run(main())
"""


@pytest.mark.slow
def test_killed_between_answers_only_the_one_under_way_is_asked_again(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = tmp_path / "counter"
    monkeypatch.setenv(DIES_AT, str(counter))
    counter.write_text("3\n")
    told = []
    for goals in (["a", "b", "c", "d"], ["e"]):
        command = [sys.executable, "-c", PROCESS, str(home.folder), *goals]
        told.append(subprocess.run(command, capture_output=True, text=True))
        _, *before = counter.read_text().splitlines()
        counter.write_text("\n".join(["100", *before]))
    assert [each.returncode for each in told] == [-9, 0], told[1].stderr
    assert told[1].stdout.split() == [f"{SAID}-{goal}" for goal in ("a", "b", "c", "d", "e", "and")] + ["now?"]  # fmt: skip
    asked = [line for line in counter.read_text().splitlines()[1:] if line]
    assert asked == ["a", "b", "c", "d", "d", "e", "and now?"]


async def test_one_limit_holds_for_designs_and_enrichment_together(home: Home) -> None:
    service = home.service
    turns = (Turn("ada", "I moved to Rome"),)
    service.of(MEMBER).ingest(NAME, Session("s", turns))
    enough_for_one = Allowance(tokens=4_400)
    async with (
        metered(service.database, PaidModel(MODEL, enough_for_one)) as model,
        enriching_beside(service, model, look_every=0.01) as job,
    ):

        async def begun() -> int:
            return job.rounds

        await until(begun)
        drawn = job.status()["tokens"]
        assert drawn > 0
        async with served_designs(service, home.folder, model=model) as served:
            note = (await served.experience(MEMBER, NAME, lived("one"))).note
            found = await served.advise(MEMBER, NAME, Query("x"))
            assert "budget" in note + found.note
            assert served.status()["model"]["tokens"] == 0
        assert job.status()["tokens"] == drawn


async def test_one_process_of_a_memory_asks_at_a_time_and_within_a_limit(home: Home) -> None:
    async with asking(home):
        with pytest.raises(Busy, match="another process asks a model"):
            async with enriching(home.service, PaidModel(MODEL, ENOUGH)):
                pass
        async with serving(home) as served:  # without a model as many as there are
            assert await words(served) == ["nothing"]
    with pytest.raises(UsageError, match="needs a limit"):
        async with served_designs(home.service, home.folder, model=MODEL):
            pass
    with pytest.raises(UsageError, match="needs a price"):
        unpriced = "openai:nobody@http://127.0.0.1:9/v1"
        async with asking(home, unpriced, Allowance(money=1.0)):
            pass
