"""Baba Is AI as a domain: splits, worlds, what is shown, the oracle."""

import re

import pytest

from metamem.core.errors import UsageError
from metamem.core.types import SPLITS, Task
from metamem.domains.baba.domain import GOAL, SHIFTED, BabaDomain, BabaWorld
from metamem.domains.baba.engine import ACTIONS
from metamem.domains.baba.levels import kinds
from tests.domains.baba.drawing import level

DOMAIN = BabaDomain()


def test_sizes_are_as_asked_and_ids_never_repeat() -> None:
    small = BabaDomain(train=10, valid=5, test=4, shift=3)
    assert [len(small.tasks(split)) for split in SPLITS] == [10, 5, 4, 3]
    ids = [task.id for split in SPLITS for task in DOMAIN.tasks(split)]
    assert len(ids) == len(set(ids))


def test_splits_share_no_level() -> None:
    drawn = [(t.data["id"], t.data["seed"]) for split in SPLITS for t in DOMAIN.tasks(split)]
    assert len(drawn) == len(set(drawn))


def looks(domain: BabaDomain, task: Task) -> str:
    """What a player reads first, things called by the order in which they turn up."""
    names: dict[str, str] = {}
    text = domain.world(task, 0).reset().text
    return re.sub("ball|key|door", lambda m: names.setdefault(m[0], str(len(names))), text)


@pytest.mark.parametrize("settings", [{}, {"seed": 3, "train": 1200, "valid": 300, "test": 300}])
def test_no_level_is_seen_twice_by_whatever_names(settings: dict[str, int]) -> None:
    """Splits differ by content, not by seed alone, and so does the reserve from all of them."""
    domain = BabaDomain(**settings, reserve=400)
    tasks = [*(t for split in SPLITS for t in domain.tasks(split)), *domain.reserve()]
    assert len({looks(domain, task) for task in tasks}) == len(tasks)


def test_the_reserve_is_more_of_train_and_costs_those_nothing_who_do_not_ask() -> None:
    domain = BabaDomain(train=74, reserve=120)
    home = {name for name, kind in kinds().items() if kind.family not in SHIFTED}
    assert len(domain.reserve()) == 120
    assert {t.data["id"] for t in domain.reserve()} == home
    assert not {t.id for t in domain.reserve()} & {t.id for t in domain.tasks("train")}
    assert domain.version == BabaDomain(train=74).version
    assert len(DOMAIN.reserve()) + len(DOMAIN.tasks("train")) >= 2000


def test_both_halves_of_train_hold_every_id_of_home_and_none_of_the_shift() -> None:
    home = {name for name, kind in kinds().items() if kind.family not in SHIFTED}
    tasks = DOMAIN.tasks("train")
    half = len(tasks) // 2
    assert {t.data["id"] for t in tasks[:half]} == {t.data["id"] for t in tasks[half:]} == home
    shifted = {t.data["id"] for t in DOMAIN.tasks("shift")}
    assert shifted == set(kinds()) - home
    assert {t.kind for t in DOMAIN.tasks("shift")} == set(SHIFTED)


def test_the_version_names_the_data() -> None:
    assert BabaDomain().version == DOMAIN.version
    others = [BabaDomain(seed=1), BabaDomain(train=100), BabaDomain(parity=False)]
    assert len({DOMAIN.version, *(other.version for other in others)}) == 4


def test_worlds_are_exact_and_can_be_played_again() -> None:
    task = DOMAIN.tasks("train")[3]
    actions = ["up", "left", "idle", "right", "down"] * 3
    world, other = DOMAIN.world(task, 0), DOMAIN.world(task, 99)
    first = [world.reset(), *(world.step(a) for a in actions)]
    assert first == [other.reset(), *(other.step(a) for a in actions)]
    assert first == [world.reset(), *(world.step(a) for a in actions)]


def test_nothing_privileged_is_shown() -> None:
    for split in SPLITS:
        for task in DOMAIN.tasks(split)[:40]:
            seen = DOMAIN.world(task, 0).reset()
            assert task.goal == GOAL
            assert seen.actions == ACTIONS
            assert task.data["id"] not in seen.text
            assert "[" not in seen.text  # plans are written with brackets


def test_the_reward_is_one_for_a_win_and_the_end_is_kept() -> None:
    task = next(t for t in DOMAIN.tasks("train") if t.data["id"] == "goto_win")
    world = DOMAIN.world(task, 0)
    rewards = [world.reset().reward]
    for line in DOMAIN.oracle(task).splitlines():
        seen = world.step(line.split(". ")[1])
        rewards.append(seen.reward)
    assert rewards == [*[0.0] * (len(rewards) - 1), 1.0]
    assert seen.done
    assert world.step("left") == seen


def test_what_is_no_action_changes_nothing() -> None:
    world = DOMAIN.world(DOMAIN.tasks("train")[0], 0)
    before = world.reset()
    refused = world.step("jump")
    assert "jump" in refused.text
    assert refused.text.endswith(before.text)
    assert world.step("idle") == before


def test_a_level_without_you_ends_without_reward() -> None:
    world = BabaWorld(level(". . . .\nBABA IS YOU .\n. baba . ."))
    assert not world.reset().done
    lost = world.step("up")
    assert (lost.done, lost.reward) == (True, 0.0)


@pytest.mark.parametrize("sizes", [{"train": 1}, {"valid": 0}, {"shift": -3}])
def test_sizes_that_make_no_sense_are_refused(sizes: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        BabaDomain(**sizes)


def test_an_unknown_split_is_refused() -> None:
    with pytest.raises(UsageError):
        DOMAIN.tasks("exam")
