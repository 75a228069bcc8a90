"""Designs that serve scopes: access, many callers, swaps and undo, failures, idling."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from metamem.core.access import Scope
from metamem.core.errors import Denied, JailUnavailable, UnknownName, UsageError
from metamem.core.types import Message, Query
from metamem.service import picture
from metamem.service.designs.clean import MOST_BYTES
from metamem.service.designs.moments import enter_experience
from metamem.service.designs.moments import told as moments_told
from metamem.service.designs.served import ServedDesigns
from metamem.service.designs.words import Back
from metamem.service.service import MemoryService
from metamem.service.words import Draft
from tests.service.designs.parts import (
    BROKEN,
    MEMBER,
    NAME,
    READER,
    STRANGER,
    WRITER,
    A,
    B,
    Home,
    lived,
    serving,
    told,
)

KEY = "sk-ant-api03-" + "a1B2c3D4e5" * 9 + "-AbCdEfAA"


async def test_a_scope_without_a_design_is_answered_with_nothing_and_says_so(home: Home) -> None:
    async with serving(home) as served:
        found = await served.advise(MEMBER, NAME, Query("x"))
        assert (found.text, found.design, found.note) == ("", "", "no design is in use here")
        assert (await served.experience(MEMBER, NAME, lived("kept"))).position == 0
        home.put_to_use(A)
        assert await told(served) == ["A:", "kept"]


async def test_what_was_experienced_is_in_the_advice_and_the_moment_has_its_outcome(
    home: Home,
) -> None:
    home.put_to_use(A)
    async with serving(home) as served:
        await served.experience(MEMBER, NAME, lived("first"))
        asked = await served.advise(MEMBER, NAME, Query("x"), session="s1")
        assert asked.text == "A: first"
        assert asked.fenced.startswith("<metamem-memory advice=")
        assert asked.tokens > 0
        before = moments_of(home)
        assert before.warning.startswith("of 1 moments none has an outcome")
        await served.experience(MEMBER, NAME, lived("second", 0.5), moment=asked.moment)
        assert await told(served) == ["A:", "first", "second"]
    rows = home.rows("SELECT who, session, design, held_back, propensity, outcome FROM moments")
    assert rows[0] == ("ada", "s1", A.id, 0, 1.0, 0.5)
    assert moments_of(home).warning == ""
    with home.service.database.writing() as execute:
        picture.redraw(execute)
    assert (
        home.rows("SELECT who, session, design, held_back, propensity, outcome FROM moments")
        == rows
    )


def moments_of(home: Home) -> Back:
    with home.service.database.reading() as execute:
        return moments_told(execute, home.number)


async def test_reading_is_for_asking_and_writing_for_teaching(home: Home) -> None:
    home.put_to_use(A)
    async with serving(home) as served:
        assert (await served.advise(READER, NAME, Query("x"))).text == "A:"
        await served.experience(WRITER, NAME, lived("by walt"))
        for caller, work in (
            (WRITER, served.advise(WRITER, NAME, Query("x"))),
            (STRANGER, served.advise(STRANGER, NAME, Query("x"))),
            (READER, served.experience(READER, NAME, lived("x"))),
            (STRANGER, served.experience(STRANGER, NAME, lived("x"))),
            (READER, served.compare(READER, NAME, A.id)),
            (WRITER, served.standing(WRITER, NAME)),
        ):
            with pytest.raises(Denied):
                await work
            assert caller
    home.service.flush()
    verbs = home.rows("SELECT verb, outcome FROM audit ORDER BY seq")
    assert verbs.count(("advise", "granted")) == 1
    assert verbs.count(("advise", "denied")) == 2
    assert verbs.count(("experience", "granted")) == 1
    ((count,),) = home.rows("SELECT COUNT(*) FROM experiences")
    assert count == 1


async def test_a_moment_is_of_its_own_scope_and_useful_facts_must_be_seen(home: Home) -> None:
    (fact,) = home.service.remember(MEMBER, NAME, [Draft("The gate opens with the blue key.")])
    async with serving(home) as served:
        with pytest.raises(UnknownName):
            await served.experience(MEMBER, NAME, lived("x"), moment="m-none")
        with pytest.raises(UnknownName):
            await served.experience(MEMBER, NAME, lived("x"), useful=["f-none"])
        asked = await served.advise(MEMBER, NAME, Query("x"))
        await served.experience(MEMBER, NAME, lived("x"), moment=asked.moment, useful=[fact.id])
        with pytest.raises(UsageError, match="at most"):
            await served.experience(MEMBER, NAME, lived("x" * MOST_BYTES))


async def test_secrets_are_in_nothing_that_is_kept(home: Home, tmp_path: Path) -> None:
    home.put_to_use(A)
    async with serving(home) as served:
        message = Message("ada", f"it is {KEY}")
        spoken = replace(lived(f"use {KEY} here"), messages=(message,))
        done = await served.experience(MEMBER, NAME, spoken)
        assert done.redacted
        asked = await served.advise(MEMBER, NAME, Query(f"say {KEY}"), session=f"s {KEY}")
        assert KEY not in asked.text and "[secret" in asked.text
    home.service.flush()
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path


async def test_advice_is_capped(home: Home) -> None:
    home.put_to_use(A)
    async with serving(home, advice_tokens=20) as served:
        for n in range(30):
            await served.experience(MEMBER, NAME, lived(f"goal-{n}"))
        found = await served.advise(MEMBER, NAME, Query("x"))
        assert found.truncated
        assert found.tokens <= 20


@pytest.mark.slow
async def test_twenty_callers_at_once_lose_nothing_and_see_what_returned(home: Home) -> None:
    home.put_to_use(A)
    async with serving(home) as served:

        async def caller(n: int) -> None:
            for turn in range(5):
                goal = f"g{n}-{turn}"
                await served.experience(MEMBER, NAME, lived(goal))
                assert goal in await told(served)

        await asyncio.gather(*(caller(n) for n in range(20)))
        seen = await told(served)
        assert len(seen) == len(set(seen)) == 101
        assert served.counted["failed"] == 0


async def test_the_ledger_swaps_and_undoes_and_no_experience_is_lost(home: Home) -> None:
    home.put_to_use(A)
    async with serving(home) as served:
        await served.experience(MEMBER, NAME, lived("one"))
        assert await told(served) == ["A:", "one"]
        home.put_to_use(B)
        seen = [(await told(served))]
        while seen[-1][0] != "B:":
            assert seen[-1] == ["A:", "one"]  # the old one answers until the new one can
            seen.append(await told(served))
        assert seen[-1] == ["B:", "one"]
        await served.experience(MEMBER, NAME, lived("two"))
        home.undo(B)
        while (now := await told(served))[0] != "A:":
            assert now == ["B:", "one", "two"]
        assert now == ["A:", "one", "two"]
        home.undo(A)
        assert await told(served) == []


@pytest.mark.slow
async def test_a_swap_under_load_loses_no_update(home: Home) -> None:
    home.put_to_use(A)
    async with serving(home) as served:
        answered: list[str] = []

        async def caller(n: int) -> None:
            for turn in range(12):
                goal = f"g{n}-{turn}"
                await served.experience(MEMBER, NAME, lived(goal))
                seen = await told(served)
                assert goal in seen
                answered.append(seen[0])

        async def swapping() -> None:
            for swap in range(3):
                await asyncio.sleep(0.3)
                if swap % 2:
                    home.undo(B)
                else:
                    home.put_to_use(B)

        await asyncio.gather(swapping(), *(caller(n) for n in range(8)))
        assert {"A:", "B:"} <= set(answered)
        assert len(set(await told(served))) == 8 * 12 + 1
        assert served.counted["failed"] == 0


async def test_a_design_that_fails_costs_advice_and_nothing_else(home: Home) -> None:
    home.put_to_use(A)
    async with serving(home) as served:
        await served.experience(MEMBER, NAME, lived("good"))
        failed = await served.advise(MEMBER, NAME, Query("explode with secrets of mine"))
        assert failed.text == ""
        assert failed.note.startswith("memory failed")
        assert "secrets of mine" not in failed.note
        assert "secrets of mine" not in str(served.status())
        assert served.counted["failed"] == 1
        assert await told(served) == ["A:", "good"]
        await served.experience(MEMBER, NAME, lived("spoilt"))
        assert await told(served) == ["A:", "good"]


async def test_one_that_cannot_be_opened_leaves_the_old_one_serving(home: Home) -> None:
    home.put_to_use(A)
    async with serving(home, retry_seconds=60.0) as served:
        await served.experience(MEMBER, NAME, lived("good"))
        assert await told(served) == ["A:", "good"]
        home.put_to_use(BROKEN)
        while not served.reports:
            assert await told(served) == ["A:", "good"]
        assert await told(served) == ["A:", "good"]
        assert served.reports[-1].design == BROKEN.id
    async with serving(home) as served:  # and where there is none before it
        found = await served.advise(MEMBER, NAME, Query("x"))
        assert (found.text, found.note[:13]) == ("", "memory failed")


async def test_a_poisonous_experience_does_not_brick_the_scope(home: Home) -> None:
    home.put_to_use(A)
    async with serving(home) as served:
        for goal in ("one", "poison", "two"):
            await served.experience(MEMBER, NAME, lived(goal))
        assert await told(served) == ["A:", "one", "two"]
    async with serving(home) as served:
        assert await told(served) == ["A:", "one", "two"]
        await served.experience(MEMBER, NAME, lived("three"))
        assert await told(served) == ["A:", "one", "two", "three"]


async def test_idle_memories_are_closed_and_opened_again_from_their_snapshots(home: Home) -> None:
    home.put_to_use(A)
    async with serving(home, idle_seconds=0.1) as served:
        await served.experience(MEMBER, NAME, lived("kept"))
        assert await told(served) == ["A:", "kept"]
        for _ in range(500):
            if not served.status()["open"]:
                break
            await asyncio.sleep(0.02)
        assert not served.status()["open"]
        assert await told(served) == ["A:", "kept"]
    assert list((home.service.folder / "served").rglob("*.snapshot"))


async def test_more_scopes_than_may_be_open_at_once(home: Home) -> None:
    scopes = [Scope("acme", "project", f"p{n}") for n in range(4)]
    for scope in scopes:
        home.service.make_scope(scope)
    rights = frozenset(scopes)
    caller = replace(MEMBER, reads=rights, writes=rights)
    async with serving(home, most_open=2, named={str(s): A for s in scopes}) as served:
        for turn in range(2):
            for n, scope in enumerate(scopes):
                await served.experience(caller, str(scope), lived(f"{n}-{turn}"))
                await served.advise(caller, str(scope), Query("x"))
                assert served.status()["open"] <= 2
        for n, scope in enumerate(scopes):
            found = await served.advise(caller, str(scope), Query("x"))
            assert found.text == f"A: {n}-0 {n}-1"


async def test_what_another_process_added_is_in_the_next_advice(home: Home) -> None:
    home.put_to_use(A)
    async with serving(home) as served:
        assert await told(served) == ["A:"]
        other = MemoryService(home.service.folder)
        with other.database.writing() as execute:
            data = lived("elsewhere").to_json()
            enter_experience(execute, home.number, NAME, MEMBER, data, "", ())
        other.close()
        assert await told(served) == ["A:", "elsewhere"]


async def test_without_a_jail_experiences_are_kept_and_there_is_no_advice(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(_: str) -> None:
        raise JailUnavailable("no layer is here")

    monkeypatch.setattr("metamem.sandbox.host.choose", none)
    home.put_to_use(A)
    async with serving(home) as served:
        assert (await served.experience(MEMBER, NAME, lived("one"))).position == 0
        found = await served.advise(MEMBER, NAME, Query("x"))
        assert (found.text, found.note) == ("", "memory failed: JailUnavailable")


async def test_nothing_is_made_before_a_design_is_asked(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    monkeypatch.setattr("metamem.service.designs.served.Jail", lambda **_: made.append("jail"))
    monkeypatch.setattr("metamem.service.designs.served._usual_embedder", made.append)
    async with ServedDesigns(home.service, home.archive) as served:
        await served.experience(MEMBER, NAME, lived("one"))
        assert not (await served.advise(MEMBER, NAME, Query("x"))).text
    assert made == []
