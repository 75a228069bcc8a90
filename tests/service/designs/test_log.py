"""The log over the service's events: positions stay, erased lines are holes, digests follow."""

import asyncio
from pathlib import Path

import pytest

from metamem.core.errors import UsageError
from metamem.core.ids import canonical_json
from metamem.service import picture
from metamem.service.database import Database
from metamem.service.designs.log import ScopeLog
from metamem.service.designs.moments import erase_moments
from tests.service.designs.parts import SCOPE, Home, lived


def line(goal: str) -> str:
    return canonical_json(lived(goal).to_json())


async def lines(log: ScopeLog, start: int = 0) -> list[tuple[int, str | None]]:
    return [each async for each in log.read(start)]


async def test_lines_have_dense_positions_in_each_scope(tmp_path: Path) -> None:
    home = Home(tmp_path)
    other = home.service.make_scope(type(SCOPE)("acme", "project", "other"))
    here, there = (ScopeLog(home.service.database, n) for n in (home.number, other))
    assert [await here.append(line("a")), await there.append(line("x"))] == [0, 0]
    assert [await here.append(line("b")), await there.append(line("y"))] == [1, 1]
    assert await lines(here) == [(0, line("a")), (1, line("b"))]
    assert await lines(there, 1) == [(1, line("y"))]
    assert await here.length() == 2
    home.close()


async def test_what_is_erased_is_a_hole_and_another_digest(tmp_path: Path) -> None:
    home = Home(tmp_path)
    log = ScopeLog(home.service.database, home.number)
    for goal in "abc":
        await log.append(line(goal))
    before = [await log.digest(n) for n in range(4)]
    assert len(set(before)) == 4
    with pytest.raises(UsageError):
        await log.digest(4)
    with home.service.database.writing() as execute:
        ((event,),) = execute(
            "SELECT event FROM experiences WHERE scope = ? AND position = 1", (home.number,)
        )
        execute("DELETE FROM event_bodies WHERE seq = ?", (event,))
        execute("UPDATE scopes SET generation = generation + 1")
    assert await lines(log) == [(0, line("a")), (1, None), (2, line("c"))]
    after = [await log.digest(n) for n in range(4)]
    assert after[:2] == before[:2]
    assert not set(after[2:]) & set(before)
    assert await ScopeLog(home.service.database, home.number).digest(3) == after[3]
    home.close()


async def test_a_picture_made_anew_has_the_same_positions_holes_included(tmp_path: Path) -> None:
    home = Home(tmp_path)
    log = ScopeLog(home.service.database, home.number)
    for goal in "ab":
        await log.append(line(goal))
    with home.service.database.writing() as execute:
        erase_moments(execute, home.number, "")
    await log.append(line("c"))
    before = await lines(log)
    assert before == [(0, None), (1, None), (2, line("c"))]
    with home.service.database.writing() as execute:
        picture.redraw(execute)
    assert await lines(log) == before
    home.close()


async def test_two_openers_of_the_file_never_share_a_position(tmp_path: Path) -> None:
    """As two processes do."""
    home = Home(tmp_path)
    second = Database(home.service.database.path, create=False)
    logs = [ScopeLog(home.service.database, home.number), ScopeLog(second, home.number)]
    found = await asyncio.gather(*(logs[n % 2].append(line(str(n))) for n in range(60)))
    assert sorted(found) == list(range(60))
    second.close()
    home.close()
