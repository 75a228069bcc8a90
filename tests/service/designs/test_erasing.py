"""Erasing reaches experiences, moments, snapshots and the memories that run."""

import asyncio
from pathlib import Path

import pytest

from metamem.core.errors import StoreError
from metamem.core.types import Experience, Message, Query
from metamem.service import picture
from metamem.service.service import MemoryService
from tests.service.designs.parts import MEMBER, NAME, SCOPE, WRITER, A, Home, lived, serving, told

WORD = "zanzibarquux"


def on_disk(folder: Path) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if WORD.encode() in path.read_bytes()]


async def filled(home: Home) -> None:
    """Words in the log, in moments, in the running memory and in a snapshot of it."""
    home.put_to_use(A)
    async with serving(home) as served:
        await served.experience(WRITER, NAME, lived(f"{WORD}-of-walt"))
        asked = await served.advise(MEMBER, NAME, Query(f"{WORD} asked"), session=WORD)
        await served.experience(MEMBER, NAME, lived("of-ada", 1.0), moment=asked.moment)
        said = Experience(goal=f"{WORD}-said", messages=(Message("Walt", f"{WORD}, he said"),))
        await served.experience(MEMBER, NAME, said)
    assert on_disk(home.folder)
    assert list((home.service.folder / "served").rglob("*.snapshot"))


async def test_a_scope_leaves_no_word_behind_while_it_is_served(home: Home) -> None:
    await filled(home)
    async with serving(home) as served:
        assert f"{WORD}-of-walt" in await told(served)
        stone = await asyncio.to_thread(home.service.erase, MEMBER, NAME, "asked to")
        assert stone.counts["experiences"] == 3
        assert stone.counts["moments"] == 2
        assert on_disk(home.folder) == []
        home.service.make_scope(SCOPE)
        assert WORD not in " ".join(await told(served))
        await served.experience(MEMBER, NAME, lived("afresh"))
        assert await told(served) == ["A:", "afresh"]
    assert on_disk(home.folder) == []
    positions = home.rows("SELECT position FROM experiences ORDER BY position")
    assert positions == [(n,) for n in range(4)]


async def test_one_persons_words_go_and_others_stay(home: Home) -> None:
    await filled(home)
    async with serving(home) as served:
        assert f"{WORD}-of-walt" in await told(served)
        await asyncio.to_thread(home.service.erase, MEMBER, NAME, "asked to", "walt")
        assert await told(served) == ["A:", "of-ada"]
    rows = home.rows("SELECT id, outcome FROM moments ORDER BY id")
    assert [outcome for _, outcome in rows] == [1.0, None, None]
    with home.service.database.writing() as execute:
        picture.redraw(execute)
    assert home.rows("SELECT id, outcome FROM moments ORDER BY id") == rows


async def test_an_erasure_from_elsewhere_is_noticed_by_a_memory_that_runs(home: Home) -> None:
    await filled(home)
    async with serving(home) as served:
        assert f"{WORD}-of-walt" in await told(served)
        other = MemoryService(home.service.folder)
        await asyncio.to_thread(other.erase, MEMBER, NAME, "asked to", "walt")
        other.close()
        assert await told(served) == ["A:", "of-ada"]
        await served.experience(MEMBER, NAME, lived("more"))
    snapshots = list((home.service.folder / "served").rglob("*.snapshot"))
    assert all(WORD.encode() not in path.read_bytes() for path in snapshots)


async def test_the_loop_is_not_a_place_to_erase_from(home: Home) -> None:
    await filled(home)
    async with serving(home) as served:
        await told(served)
        with pytest.raises(StoreError, match="not everywhere"):
            home.service.erase(MEMBER, NAME, "asked to")
    home.service.erasing.finish()
    assert on_disk(home.folder) == []
