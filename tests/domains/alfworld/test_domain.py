"""The domain over own games and over a folder of games in the official layout."""

import json
import pickle

import pytest

from metamem.core.errors import DataError, UsageError
from metamem.core.registry import create
from metamem.core.types import SPLITS
from metamem.domains.alfworld.domain import AlfworldDomain
from metamem.domains.alfworld.export import game_content
from metamem.domains.alfworld.generator import generate


def small(data="generated", **settings):
    return AlfworldDomain(data, **{"train": 6, "valid": 5, "test": 4, "shift": 3} | settings)


@pytest.fixture
def folder(tmp_path):
    """Games in the layout of the official archive: train 12, valid_seen 4, valid_unseen 4."""
    for split, count in (("train", 12), ("valid_seen", 4), ("valid_unseen", 4)):
        for number in range(count):
            game = generate(1, split, number)
            goal = game.goal
            task = f"{goal.kind}-{goal.object}-None-{goal.target}-{number}"
            path = tmp_path / "json_2.1.1" / split / task / f"trial_{number}" / "game.tw-pddl"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(game_content(game)))
    return tmp_path


def all_tasks(domain):
    return [task for split in SPLITS for task in domain.tasks(split)]


@pytest.mark.parametrize("official", [False, True])
def test_the_reserve_is_more_of_train_and_nothing_of_another_split(official, folder):
    domain = small(str(folder) if official else "generated", train=4, valid=3, reserve=20)
    further = domain.reserve()
    assert len(further) == (5 if official else 20)  # 12 of the folder are train's or valid's
    taken = {task.data["key"] for task in all_tasks(domain)}
    assert not taken & {task.data["key"] for task in further}
    assert len({task.data["key"] for task in further}) == len(further)
    walked = domain.world(further[0], 0).reset()
    assert walked.actions and domain.oracle(further[0])
    with pytest.raises(UsageError, match="reserve"):
        small(reserve=-1)


@pytest.mark.parametrize("official", [False, True])
def test_splits_are_disjoint_stable_and_of_the_size_asked_for(official, folder):
    data = str(folder) if official else "generated"
    domain = small(data)
    assert [len(domain.tasks(split)) for split in SPLITS] == [6, 5, 4, 3]
    tasks = all_tasks(domain)
    assert len({task.id for task in tasks}) == len({task.data["key"] for task in tasks}) == 18
    again = small(data)
    assert all_tasks(again) == tasks
    assert again.version == domain.version
    assert all_tasks(pickle.loads(pickle.dumps(domain))) == tasks


@pytest.mark.parametrize("official", [False, True])
def test_the_oracle_wins_every_task_and_the_id_tells_nothing(official, folder):
    domain = small(str(folder) if official else "generated")
    for task in all_tasks(domain):
        world = domain.world(task, seed=0)
        intro = world.reset()
        assert intro.text.endswith(f"Your task is to: {task.goal}.")
        for command in domain.oracle(task).splitlines():
            seen = world.step(command)
        assert (seen.reward, seen.done) == (1.0, True)
        world.close()
        assert not any(word in task.id for word in task.goal.split() if len(word) > 3)
        assert task.kind not in task.id


def test_the_version_names_seed_sizes_and_files(folder):
    own = {small().version, small(seed=1).version, small(train=7).version}
    official = {small(str(folder)).version, small(str(folder), seed=1).version}
    (changed,) = (folder / "json_2.1.1" / "train").glob("*/trial_3/game.tw-pddl")
    changed.write_text(changed.read_text() + " ")
    official.add(small(str(folder)).version)
    assert (len(own), len(official)) == (3, 3)


def test_other_seeds_choose_other_games(folder):
    assert all_tasks(small()) != all_tasks(small(seed=1))
    one, two = (small(str(folder), seed=seed).tasks("train") for seed in (0, 1))
    assert {t.id for t in one} != {t.id for t in two}


def test_fewer_official_test_games_than_asked_for_means_all_of_them(folder):
    assert len(small(str(folder), test=50).tasks("test")) == 4


def test_auto_follows_the_variable(folder, monkeypatch):
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    assert small("auto").version == small("generated").version
    monkeypatch.setenv("ALFWORLD_DATA", str(folder))
    assert small("auto").version == small(str(folder / "json_2.1.1")).version


def test_bad_input_is_refused_with_a_reason(folder, tmp_path):
    with pytest.raises(UsageError, match=r"json_2\.1\.1"):
        small(str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match="train and valid together"):
        small(str(folder), train=10).tasks("train")
    with pytest.raises(UsageError, match="no split called"):
        small().tasks("exam")
    with pytest.raises(UsageError, match="at least one task"):
        small(valid=0)
    (tmp_path / "empty" / "json_2.1.1").mkdir(parents=True)
    with pytest.raises(DataError, match="has no games"):
        small(str(tmp_path / "empty")).tasks("test")
    (broken,) = (folder / "json_2.1.1" / "valid_seen").glob("*/trial_0/game.tw-pddl")
    broken.write_text("{")
    with pytest.raises(DataError, match="trial_0"):
        small(str(folder)).tasks("test")


def test_the_registry_knows_it():
    domain = create("domains", "alfworld", data="generated", train=2)
    assert (domain.name, domain.kind, domain.max_steps) == ("alfworld", "code", 30)
    assert "no_memory" in domain.baselines()
    assert "generated" in domain.describe()
    assert domain.invariants()
