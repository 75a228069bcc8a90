"""The broker: replay, independence of repeats, retries, budgets, accounting."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from metamem.core.calls import AttemptRecord
from metamem.core.chat import Question, Site, Turn
from metamem.core.errors import (
    AllowanceSpent,
    ModelFault,
    ModelRefused,
    ModelUnavailable,
    UsageError,
)
from metamem.models.allowance import Allowance
from metamem.models.broker import ATTEMPTS, Broker
from metamem.models.config import ModelConfig
from metamem.store.sqlite import SqliteArchive
from tests.models.endpoint import MOODS, Endpoint

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[SqliteArchive]:
    with SqliteArchive(tmp_path / "archive.db") as archive:
        yield archive


def question(text: str = "hello", **more: Any) -> Question:
    return Question((Turn("system", "Be kind."), Turn("user", text)), **more)


@asynccontextmanager
async def brokered(
    archive: SqliteArchive,
    server: Endpoint,
    run_id: str = "run",
    allowance: Allowance | None = None,
    **options: Any,
):
    name = f"openai:fake@{server.url}"
    config = ModelConfig(options={name: {"price": {"input": 1.0, "output": 2.0}, **options}})
    broker = Broker(
        archive,
        config.open_roles({"agent": [name], "memory": [name]}),
        run_id=run_id,
        allowance=allowance,
        pause=0.001,
    )
    try:
        yield broker
    finally:
        await broker.close()


def counting() -> Callable[[Question], str]:
    count = iter(range(1000))
    return lambda asked: f"reply {next(count)}"


async def test_what_was_answered_is_never_paid_again(archive: SqliteArchive) -> None:
    async with Endpoint(answer=counting()) as server:
        async with brokered(archive, server) as broker:
            first = await broker.ask(Site("agent", task="t"), question())
        async with brokered(archive, server) as broker:
            assert await broker.ask(Site("agent", task="t"), question()) == first
            assert broker.counts.replayed == 1 and server.tally.requests == 1
            await broker.ask(Site("agent", task="t"), question("another"))
        assert server.tally.requests == 2


async def test_repeats_cases_and_designs_are_independent_draws(archive: SqliteArchive) -> None:
    sites = [
        Site("agent", task="t"),
        Site("agent", task="t", repeat=1),
        Site("agent", task="u"),
        Site("agent", task="t", ordinal=1),
        Site("agent", task="t", design="d"),
        Site("agent", task="t", seed=1),
        Site("memory", task="t"),
    ]
    async with Endpoint(answer=counting()) as server, brokered(archive, server) as broker:
        replies = {(await broker.ask(site, question())).text for site in sites}
    assert len(replies) == len(sites)


async def test_a_question_that_is_cancelled_before_it_goes_out_costs_nothing(
    archive: SqliteArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    entering, go_on = threading.Event(), threading.Event()
    begin = archive.begin_attempt

    def slowly(attempt: AttemptRecord) -> int:
        entering.set()
        assert go_on.wait(60)
        return begin(attempt)

    monkeypatch.setattr(archive, "begin_attempt", slowly)
    async with Endpoint(answer=counting()) as server, brokered(archive, server) as broker:
        asking = asyncio.create_task(broker.ask(Site("agent", task="t"), question()))
        await asyncio.to_thread(entering.wait, 60)
        closing = asyncio.create_task(broker.close())  # cancels what is under way
        await asyncio.sleep(0)
        go_on.set()
        await closing
        assert isinstance((await asyncio.gather(asking, return_exceptions=True))[0], BaseException)
    (spent,) = archive.spending("run")
    assert (spent.failed, spent.in_flight, spent.uncertain) == (1, 0, 0)
    assert (server.tally.requests, spent.money, spent.reserved) == (0, 0.0, 0)


async def test_equal_questions_at_the_same_time_are_sent_once(archive: SqliteArchive) -> None:
    async with Endpoint(answer=counting()) as server, brokered(archive, server) as broker:
        site = Site("memory", phase="update", design="d")
        replies = await asyncio.gather(*(broker.ask(site, question()) for _ in range(20)))
    assert len({reply.text for reply in replies}) == 1 and server.tally.requests == 1


@pytest.mark.parametrize("mood", MOODS)
async def test_every_fault_is_tried_again_and_accounted_for(
    mood: str, archive: SqliteArchive
) -> None:
    async with (
        Endpoint(lambda n: mood if n < 2 else "", lambda q: "at last") as server,
        brokered(archive, server, seconds=0.5) as broker,
    ):
        reply = await broker.ask(Site("agent", design="d", task="t"), question())
        assert reply.text == "at last"
    (spent,) = archive.spending("run")
    assert spent.attempts == server.tally.requests == 3
    assert (spent.usage.input, spent.usage.output) == (server.tally.input, server.tally.output)
    assert spent.usage.cached > 0 and spent.usage.reasoning == 1
    assert spent.in_flight == 0
    sent_but_lost = {"slow", "cut", "nonsense", "list", "shape", "huge"}
    assert spent.uncertain == (2 if mood in sent_but_lost else 0)
    assert spent.failed == (2 if mood in ("429", "500") else 0)


async def test_a_server_that_never_recovers_is_a_fault_and_no_answer(
    archive: SqliteArchive,
) -> None:
    async with Endpoint(lambda n: "500") as server, brokered(archive, server) as broker:
        with pytest.raises(ModelFault, match="500"):
            await broker.ask(Site("agent"), question())
        assert server.tally.requests == ATTEMPTS
        assert archive.calls() == []


@pytest.mark.parametrize("status", ["400", "401", "404"])
async def test_a_question_that_is_refused_for_good_is_sent_once(
    status: str, archive: SqliteArchive
) -> None:
    async with Endpoint(lambda n: status) as server, brokered(archive, server) as broker:
        with pytest.raises(ModelFault, match=status):
            await broker.ask(Site("agent"), question())
        assert server.tally.requests == 1


async def test_nobody_there_is_a_fault(archive: SqliteArchive) -> None:
    broker = Broker(
        archive, {"agent": [ModelConfig().open("openai:m@http://127.0.0.1:9/v1")]}, pause=0.001
    )
    with pytest.raises(ModelFault, match="cannot be reached"):
        await broker.ask(Site("agent"), question())
    await broker.close()


async def test_an_answer_that_stays_empty_is_a_refusal_and_is_remembered(
    archive: SqliteArchive,
) -> None:
    async with Endpoint(lambda n: "empty") as server:
        for _ in range(2):
            async with brokered(archive, server) as broker:
                with pytest.raises(ModelRefused, match="empty") as caught:
                    await broker.ask(Site("agent"), question())
                assert caught.value.tokens > 0
        assert server.tally.requests == ATTEMPTS


async def test_json_is_checked_against_its_schema_and_repaired(archive: SqliteArchive) -> None:
    replies = iter(["no json", '{"n": "three"}', '```json\n{"n": 3}\n```'])
    async with (
        Endpoint(answer=lambda q: next(replies), keep_bodies=True) as server,
        brokered(archive, server) as broker,
    ):
        reply = await broker.ask(Site("memory"), question(schema=SCHEMA))
        assert reply.value == {"n": 3}
        assert server.tally.requests == 3
        last = server.tally.bodies[-1]["messages"][-1]["content"]
        assert "'three' is not of type 'integer'" in last
        (spent,) = archive.spending("run")
        assert reply.usage == spent.usage


async def test_json_that_never_fits_is_a_refusal(archive: SqliteArchive) -> None:
    async with (
        Endpoint(answer=lambda q: '{"m": 1}') as server,
        brokered(archive, server) as broker,
    ):
        with pytest.raises(ModelRefused, match="'n' is a required property"):
            await broker.ask(Site("memory"), question(schema=SCHEMA))
        with pytest.raises(UsageError, match="no JSON schema"):
            await broker.ask(Site("memory"), question(schema={"type": "nonsense"}))


async def test_a_role_without_a_model_says_what_to_do(archive: SqliteArchive) -> None:
    broker = Broker(archive, {})
    with pytest.raises(ModelUnavailable) as caught:
        await broker.ask(Site("meta"), question())
    assert "--model meta=" in caught.value.hint


@pytest.mark.slow
@pytest.mark.parametrize("limit", [{"tokens": 3000}, {"money": 0.004}])
async def test_no_call_can_exceed_the_budget(limit: Any, archive: SqliteArchive) -> None:
    """Many at once, answers far below their worst case: as many as fit, and not one more."""
    async with (
        Endpoint(lambda n: "slow" if n == 7 else "", lambda q: "word " * 20) as server,
        brokered(archive, server, allowance=Allowance(**limit), at_once=8, seconds=2.0) as broker,
    ):
        asked = [
            broker.ask(Site("agent", task=str(n)), question(f"task {n}", max_tokens=300))
            for n in range(200)
        ]
        results = await asyncio.gather(*asked, return_exceptions=True)
    spent = [result for result in results if isinstance(result, AllowanceSpent)]
    good = [result for result in results if not isinstance(result, BaseException)]
    assert spent and len(good) + len(spent) == 200
    (total,) = archive.spending("run")
    if "tokens" in limit:
        assert total.usage.total + total.reserved <= limit["tokens"]
        assert total.usage.total + total.reserved > limit["tokens"] - 2 * 400  # and none in vain
    else:
        assert total.money <= limit["money"]
    # On a busy machine a call may time out before it reaches the server; none is sent unentered.
    assert 0 <= total.attempts - server.tally.requests <= 2

    async with Endpoint() as server, brokered(archive, server, allowance=Allowance(**limit)) as b:
        with pytest.raises(AllowanceSpent):  # a new process knows what the last one spent
            await b.ask(Site("agent", task="new"), question("x" * 900, max_tokens=3000))
        assert server.tally.requests == 0


async def test_a_budget_of_money_needs_a_price(archive: SqliteArchive) -> None:
    async with Endpoint() as server:
        model = ModelConfig().open(f"openai:unknown@{server.url}")
        broker = Broker(archive, {"agent": [model]}, allowance=Allowance(money=1.0))
        with pytest.raises(UsageError, match="price"):
            await broker.ask(Site("agent"), question())
        await broker.close()
        assert server.tally.requests == 0


async def test_a_cap_on_questions_at_once_holds(archive: SqliteArchive) -> None:
    async with Endpoint() as server, brokered(archive, server, at_once=3) as broker:
        await asyncio.gather(
            *(broker.ask(Site("agent", task=str(n)), question()) for n in range(40))
        )
        assert 1 < server.tally.most_at_once <= 3


async def test_a_call_that_is_cut_short_is_on_record(archive: SqliteArchive) -> None:
    async with Endpoint(lambda n: "slow") as server, brokered(archive, server) as broker:
        asking = asyncio.create_task(broker.ask(Site("agent"), question()))
        while not server.tally.requests:  # noqa: ASYNC110 - the server is another party
            await asyncio.sleep(0.01)
        asking.cancel()
    (spent,) = archive.spending("run")
    assert (spent.attempts, spent.uncertain, spent.in_flight) == (1, 1, 0)
