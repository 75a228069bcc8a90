"""What was answered outlives the process, however that ends; opened again it is the same."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from tests.service.designs.parts import NAME, A, Home, serving, told


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [3, 40])
def test_nothing_that_was_answered_is_lost_by_a_kill(tmp_path: Path, rounds: int) -> None:
    command = [sys.executable, "-m", "tests.service.designs.killed", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    answered = 0
    for _ in range(rounds):
        answered = int(process.stdout.readline())
    process.kill()
    process.wait()
    home = Home(tmp_path)
    ((kept,),) = home.rows("SELECT COUNT(*) FROM experiences")
    assert kept >= answered == rounds * 4
    first = asyncio.run(reopened(home))
    assert {f"g{n}" for n in range(answered)} <= set(first)
    assert len(first) == len(set(first)) == kept + 1
    assert asyncio.run(reopened(home)) == first
    home.close()


async def reopened(home: Home) -> list[str]:
    async with serving(home, named={NAME: A}) as served:
        return await told(served)
