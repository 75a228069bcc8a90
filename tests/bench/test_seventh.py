"""The seventh domain: fair, repeatable, won by its oracle, and not by what other tasks were won with."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import pytest
from bench.seventh.domain import Workyard
from bench.seventh.lore import FACTS, Lore
from bench.seventh.walkthrough import walkthrough

from metamem.core import registry
from metamem.core.ids import canonical_json
from metamem.core.protocols import Domain
from metamem.core.types import SPLITS, Observation, Task
from metamem.domains.conformance import DomainConformance
from metamem.evaluation.following import told_reward

FILE = Path(__file__).parents[2] / "bench" / "seventh" / "domain.py"


@pytest.fixture(scope="module")
def yard() -> Workyard:
    return Workyard()


class TestWorkyard(DomainConformance):
    played = 8

    def make(self) -> Domain:
        domain: Domain = registry.create("domains", f"{FILE}:Workyard")
        return domain


def replayed(yard: Workyard, task: Task, actions: Sequence[str]) -> Observation:
    """What actions bring, those that are not possible included."""
    world = yard.world(task, 0)
    seen = world.reset()
    for action in actions:
        if seen.done:
            break
        seen = world.step(action)
    return seen


def rewards(yard: Workyard, tasks: Sequence[Task], advice: Sequence[str]) -> float:
    """What the reader gets on average, given this advice."""
    pairs = zip(tasks, advice, strict=True)
    return fmean(asyncio.run(told_reward(yard, t, "reader", told, 1)) for t, told in pairs)


def likest(task: Task, among: Sequence[Task]) -> Task:
    """The task whose goal says the most nearly the same."""
    words = set(task.goal.split())

    def likeness(other: Task) -> float:
        others = set(other.goal.split())
        return len(words & others) / len(words | others)

    return max(among, key=likeness)


def test_the_oracle_wins_every_task_by_possible_actions(yard: Workyard) -> None:
    tasks = [task for split in SPLITS for task in yard.tasks(split)]
    assert len(tasks) >= 300
    for task in tasks:
        world = yard.world(task, 0)
        seen = world.reset()
        steps = walkthrough(task.data, yard.lore)
        assert len(steps) <= yard.max_steps // 2, task.id
        for action in steps:
            assert not seen.done and action in seen.actions, (task.id, action)
            seen = world.step(action)
        assert (seen.reward, seen.done) == (1.0, True), task.id


def test_the_agent_wins_some_without_memory_and_all_with_the_oracle(yard: Workyard) -> None:
    tasks = yard.tasks("train")[:100]
    assert 0.1 <= rewards(yard, tasks, [""] * len(tasks)) <= 0.35
    assert rewards(yard, tasks, [yard.oracle(task) for task in tasks]) >= 0.99


def test_what_won_the_likest_task_of_train_does_not_win_this_one(yard: Workyard) -> None:
    train = [*yard.tasks("train"), *yard.reserve()]
    for split in ("test", "shift"):
        tasks = yard.tasks(split)
        won = [
            replayed(yard, task, walkthrough(likest(task, train).data, yard.lore)).reward
            for task in tasks
        ]
        assert fmean(won) <= 0.05


def test_a_heap_of_ways_to_win_other_tasks_is_no_help(yard: Workyard) -> None:
    """Padding: as many of them as fit in."""
    tasks = yard.reserve()[:60]
    heap = "\n\n".join(f"{task.goal}:\n{yard.oracle(task)}" for task in yard.tasks("train")[:30])
    without = rewards(yard, tasks, [""] * len(tasks))
    assert rewards(yard, tasks, [heap] * len(tasks)) <= without + 0.1


def test_no_task_of_one_split_is_that_of_another_in_other_words(yard: Workyard) -> None:
    every = [*yard.reserve(), *(task for split in SPLITS for task in yard.tasks(split))]
    assert len({canonical_json(task.data) for task in every}) == len(every)
    assert len({task.id for task in every}) == len(every)


def test_shift_has_rooms_and_goals_that_train_has_not(yard: Workyard) -> None:
    unusual = set(FACTS["rooms"]["unusual"])
    train, shift = yard.tasks("train"), yard.tasks("shift")

    def rooms(task: Task) -> set[str]:
        return {room for door in task.data["doors"] for room in door}

    assert not any(rooms(task) & unusual for task in train)
    assert all(rooms(task) & unusual for task in shift)
    assert "carry" not in {task.kind for task in train}
    worked = {task.data["goal"]["wanted"] for task in train if task.kind == "work"}
    assert worked.isdisjoint(t.data["goal"]["wanted"] for t in shift if t.kind == "work")


def test_things_are_mostly_where_their_kind_is(yard: Workyard) -> None:
    at_home = [
        room == yard.lore.room[thing] and name.startswith(yard.lore.container[thing])
        for task in yard.tasks("train")
        for name, (room, _, things) in task.data["containers"].items()
        for thing in things
    ]
    assert 0.5 < fmean(at_home) < 0.9


def test_the_seed_draws_what_holds_everywhere() -> None:
    one, again, other = Lore(0), Lore(0), Lore(1)
    assert vars(one) == vars(again)
    assert one.box != other.box and one.room != other.room and one.control != other.control
    assert Workyard().version == Workyard().version != Workyard(seed=1).version


def test_a_wrong_box_ends_it_and_one_is_taken_only_after_the_assay(yard: Workyard) -> None:
    task = next(task for task in yard.tasks("train") if task.kind == "sort")
    *steps, last = walkthrough(task.data, yard.lore)
    right = task.data["goal"]["box"]
    wrong = next(box for box in FACTS["assays"]["boxes"] if box != right)
    seen = replayed(yard, task, [*steps, last.replace(right, wrong)])
    assert (seen.reward, seen.done) == (0.0, True)
    unassayed = [step for step in steps if not step.startswith("hold")]
    assert not replayed(yard, task, [*unassayed, last]).done


def test_a_station_needs_the_control_of_its_kind(yard: Workyard) -> None:
    task = next(task for task in yard.tasks("train") if task.kind == "make")
    *steps, start = walkthrough(task.data, yard.lore)
    station = task.data["goal"]["station"]
    starts = [f"{FACTS['controls'][c]} {station}" for c in task.data["stations"][station][1]]
    won = {action: replayed(yard, task, [*steps, action]).reward for action in starts}
    assert won == {action: float(action == start) for action in starts}


def test_a_step_is_cheap(yard: Workyard) -> None:
    tasks, steps, before = yard.tasks("train")[:50], 0, time.process_time()
    for task in tasks:
        steps += len(plan := walkthrough(task.data, yard.lore))
        replayed(yard, task, plan)
    assert (time.process_time() - before) / steps < 1e-3
