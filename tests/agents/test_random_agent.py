from collections import Counter

import pytest

from metamem.core import registry
from metamem.core.errors import UsageError
from metamem.core.protocols import Seat
from metamem.core.types import Observation

ACTIONS = ("a", "b", "c", "d")


async def draw(seed: int, count: int, advice: str = "") -> list[str]:
    player = registry.create("agents", "random").start(Seat("any goal", seed))
    player.advise(advice)
    return [await player.act(Observation("", ACTIONS)) for _ in range(count)]


async def test_uniform_seeded_and_deaf_to_advice() -> None:
    drawn = await draw(0, 4000)
    assert all(850 < count < 1150 for count in Counter(drawn).values())
    assert set(drawn) == set(ACTIONS)
    assert await draw(0, 50, "a\na\na") == drawn[:50]
    assert await draw(1, 50) != drawn[:50]


async def test_no_admissible_actions_is_a_clear_error() -> None:
    with pytest.raises(UsageError, match="admissible"):
        await registry.create("agents", "random").start(Seat("goal", 0)).act(Observation(""))
