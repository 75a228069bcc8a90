"""The reader on real games: advice that is right helps, advice that is wrong does not."""

import asyncio
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from bench import reader as bench
from metamem.agents.random_agent import RandomAgent
from metamem.agents.reader import Reader
from metamem.core.protocols import Agent
from metamem.domains.alfworld.domain import AlfworldDomain
from tests.thirdparty import third_party

GAMES = 150


@lru_cache
def domain() -> AlfworldDomain:
    return AlfworldDomain(data="generated", train=GAMES)


def success(
    advice: Callable[[bench.Setting], str], agent: Agent | None = None, games: int = GAMES
) -> float:
    """In per cent; everything is seeded, so the figure never varies."""
    tasks = domain().tasks("train")[:games]
    told = bench.advices(domain(), tasks, advice)
    return bench.measure(agent or Reader(), domain(), tasks, told, repeats=1)[0]


@lru_cache
def untold() -> float:
    return success(bench.none)


def test_without_advice_it_is_weak_but_far_above_chance() -> None:
    assert 12 < untold() < 38
    assert success(bench.none, RandomAgent()) < 5


def test_the_walkthrough_is_obeyed() -> None:
    assert success(bench.oracle) >= 95
    assert success(bench.oracle_in_kinds) >= 90


@pytest.mark.parametrize(
    "form",
    [
        lambda steps: "\n".join(f"{n}) {step}" for n, step in enumerate(steps, 1)),
        lambda steps: json.dumps({"what worked": list(steps)}, indent=1),
        lambda steps: "You could " + ", then ".join(steps) + ".",
    ],
    ids=["numbered", "json", "prose"],
)
def test_the_form_of_the_advice_hardly_matters(form: Callable[[list[str]], str]) -> None:
    assert success(lambda setting: form(bench.oracle(setting).splitlines())) >= 90


def test_naming_the_right_place_helps_and_naming_wrong_ones_hurts() -> None:
    assert success(bench.right_note) > untold() + 15
    assert success(bench.wrong_note) < untold()


def test_misleading_steps_do_not_help() -> None:
    assert success(bench.misleading) <= untold()


def test_irrelevant_advice_changes_little() -> None:
    assert abs(success(bench.irrelevant) - untold()) < 8


def test_without_goal_words_or_the_undo_penalty_it_falls() -> None:
    assert success(bench.none, Reader(goal=0, seen=0, stray=0)) < untold() / 2
    assert success(bench.none, Reader(undo=0)) < untold() / 2


def test_seeds_give_other_episodes() -> None:
    tasks = domain().tasks("train")[:20]

    async def episodes(seed: int) -> list[list[str]]:
        return [await bench.play(Reader(), domain(), task, seed, "") for task in tasks]

    first, again, other = (asyncio.run(episodes(seed)) for seed in (0, 0, 1))
    assert first == again
    assert sum(a != b for a, b in zip(first, other, strict=True)) == len(tasks)


def test_the_same_actions_under_any_hash_seed() -> None:
    code = (
        "import asyncio\n"
        "from bench import reader as b\n"
        "d = b.AlfworldDomain(data='generated', train=25)\n"
        "tasks = d.tasks('train')\n"
        "for kind in (b.none, b.irrelevant, b.right_note, b.oracle_in_kinds):\n"
        "    for task, told in zip(tasks, b.advices(d, tasks, kind)):\n"
        "        print(asyncio.run(b.play(b.Reader(), d, task, 7, told)))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            timeout=60,
            cwd=Path(__file__).resolve().parents[2],
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(outputs) == 1
    assert next(iter(outputs)).count(b"go to") > 500


@pytest.mark.data
def test_the_walkthrough_is_obeyed_in_official_training_games(tmp_path: Path) -> None:
    wanted = 120
    with tarfile.open(third_party("alfworld_games.tar.xz")) as archive:
        for member in archive:
            if wanted and "/train/" in member.name and member.name.endswith(".tw-pddl"):
                archive.extract(member, tmp_path, filter="data")
                wanted -= 1
            if not wanted:
                break
    official = AlfworldDomain(data=str(tmp_path), train=100, valid=1)
    tasks = official.tasks("train")
    assert len(tasks) == 100
    told = bench.advices(official, tasks, bench.oracle)
    assert bench.measure(Reader(), official, tasks, told, 1)[0] >= 95
    in_kinds = bench.advices(official, tasks, bench.oracle_in_kinds)
    assert bench.measure(Reader(), official, tasks, in_kinds, 1)[0] >= 90
