"""Enrichment of a whole memory: one pass by hand, beside a server, and killed in its middle."""

import asyncio
import itertools
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from metamem.core.access import Scope
from metamem.core.errors import Busy, UsageError
from metamem.models.allowance import Allowance
from metamem.service.enriching import Enriching, Pass, enriching, enriching_beside
from metamem.service.enriching_state import state
from metamem.service.metered import PaidModel, metered
from metamem.service.service import MemoryService
from metamem.service.words import Ask, Listing, Session, Turn
from tests.service.writing.scripts import DIES_AT

MOVES = "scripted:tests.service.writing.scripts:moves"
DYING = "scripted:tests.service.writing.scripts:dying"
ENOUGH = Allowance(tokens=10_000_000)
SHOP, BANK = "local/project/shop", "local/project/bank"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[MemoryService]:
    made = MemoryService(tmp_path)
    yield made
    made.close()


def talk(service: MemoryService, scope: str, *said: str, session: str = "s") -> None:
    turns = tuple(Turn("Ada", text) for text in said)
    service.local().ingest(scope, Session(session, turns, started_at=1_683_723_600_000))


def drawn(service: MemoryService) -> list[str]:
    facts = service.local().browse(Listing(limit=1000)).facts
    return sorted(fact.text for fact in facts if fact.type != "turn")


async def until(happens: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        for _ in itertools.count():
            if happens():
                return
            await asyncio.sleep(0.01)


@asynccontextmanager
async def beside(service: MemoryService, allowance: Allowance) -> AsyncIterator[Enriching]:
    async with (
        metered(service.database, PaidModel(MOVES, allowance)) as model,
        enriching_beside(service, model, look_every=0.01) as job,
    ):
        yield job


async def one_pass(service: MemoryService, questions: int = 100, **more: Any) -> Pass:
    settings = PaidModel(MOVES, more.pop("allowance", ENOUGH))
    async with enriching(service, settings) as job:
        return await job.once(questions, **more)


async def test_a_planted_fact_is_found_in_every_scope_and_recalled(service: MemoryService) -> None:
    talk(service, SHOP, "hello there", "I moved the lamps to hall 7")
    talk(service, BANK, "I moved the vault to Oslo")
    done = await one_pass(service)
    assert (done.turns, done.asked, done.stored, done.stopped) == (3, 2, 2, False)
    found = service.local().recall(Ask("Where are the lamps?", (SHOP,), types=("observation",)))
    assert [item.fact.text for item in found.items] == ["Ada: I moved the lamps to hall 7"]
    (fact,) = (item.fact for item in found.items)
    links = service.local().why(fact.id)["links"]
    assert [link["kind"] for link in links] == ["about"]
    after = state(service.database)
    assert (after.waiting, after.stored, after.warning) == (0, 2, "")
    assert after.spent.questions == 2 and after.spent.tokens > 0
    assert (await one_pass(service)).asked == 0


async def test_chatter_brings_nothing_and_that_is_a_warning(service: MemoryService) -> None:
    talk(service, SHOP, "hello there", "how are you?", "fine, thanks")
    done = await one_pass(service)
    assert (done.turns, done.stored) == (3, 0)
    assert drawn(service) == []
    assert "no fact" in state(service.database).warning


async def test_a_pass_is_bounded_and_the_next_goes_on(service: MemoryService) -> None:
    for number in range(9):
        talk(service, SHOP, f"I moved to street {number}", session=f"s{number}")
        talk(service, BANK, f"I moved to place {number}", session=f"s{number}")
    first = await one_pass(service, 7)
    assert (first.asked, first.stored) == (7, 7)
    assert state(service.database).waiting == 11
    only = await one_pass(service, scopes=frozenset({Scope.parse(BANK)}))
    assert set(state(service.database).scopes) == {SHOP}
    rest = await one_pass(service)
    assert first.stored + only.stored + rest.stored == 18
    assert len(set(drawn(service))) == 18


async def test_the_limit_holds_and_says_so(service: MemoryService) -> None:
    for number in range(5):
        talk(service, SHOP, f"I moved to street {number}", session=f"s{number}")
    small = Allowance(tokens=3400)  # one question may cost 3,000
    done = await one_pass(service, allowance=small)
    assert done.stopped and "budget" in done.notes[-1]
    assert state(service.database).spent.tokens <= 3400
    assert state(service.database).waiting == 5 - done.turns > 0
    with pytest.raises(UsageError, match="limit"):
        PaidModel.of({"memory": [MOVES]}, Allowance())


async def test_it_goes_on_in_the_background_with_what_comes(service: MemoryService) -> None:
    talk(service, SHOP, "I moved to Rome")
    async with beside(service, ENOUGH) as job:
        for said in ("I moved to Bern", "I moved to Oslo"):
            before = job.total.stored
            await asyncio.to_thread(talk, service, SHOP, said, session=said)
            await until(lambda before=before: job.total.stored > before)  # type: ignore[misc]
        with pytest.raises(Busy):
            await one_pass(service)
        await until(lambda: job.total.stored == 3)
        told = job.status()
    assert (told["stored"], told["waiting"], told["warning"]) == (3, 0, "")
    assert len(drawn(service)) == 3


async def test_a_background_that_cannot_go_on_says_so(service: MemoryService) -> None:
    talk(service, SHOP, "I moved to Rome")
    async with beside(service, Allowance(tokens=10)) as job:
        await until(lambda: bool(job.trouble))
        assert "1 turns wait" in job.status()["warning"]
    assert drawn(service) == []


PROCESS = """
import asyncio, sys
from pathlib import Path
from tests.service.test_enriching import DYING, ENOUGH, MemoryService, PaidModel, enriching

async def main():
    service = MemoryService(Path(sys.argv[1]))
    async with enriching(service, PaidModel(DYING, ENOUGH)) as job:
        await job.once(1000)
    service.close()

asyncio.run(main())
"""


@pytest.mark.slow
def test_killed_in_the_middle_nothing_is_lost_or_doubled(
    service: MemoryService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        talk(service, SHOP, f"I moved to street {number}", session=f"s{number}")
    counter = tmp_path / "counter"
    monkeypatch.setenv(DIES_AT, str(counter))
    codes = []
    for answers in (0, 2, 100):
        counter.write_text(str(answers))
        codes.append(subprocess.run([sys.executable, "-c", PROCESS, str(tmp_path)]).returncode)
    assert codes == [-9, -9, 0]
    assert drawn(service) == [f"Ada: I moved to street {number}" for number in range(6)]
