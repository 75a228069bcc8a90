"""The domain over own games, in the real engine."""

import json
import pickle
import sys
from pathlib import Path

import pytest

from metamem.agents.reader import Reader
from metamem.core.episode import play
from metamem.core.errors import UsageError
from metamem.core.protocols import Seat
from metamem.core.types import SPLITS
from metamem.domains.textworld import generate
from metamem.domains.textworld.recipes import recipes
from metamem.domains.textworld.sheet import read_sheet


def all_tasks(domain):
    return [task for split in SPLITS for task in domain.tasks(split)]


def test_splits_are_disjoint_stable_and_of_the_size_asked_for(small):
    domain = small()
    assert [len(domain.tasks(split)) for split in SPLITS] == [4, 2, 2, 2]
    tasks = all_tasks(domain)
    assert len({task.id for task in tasks}) == 10
    assert len({(task.data["path"], *task.data["walk"]) for task in tasks}) == 10
    again = small()
    assert (all_tasks(again), again.version) == (tasks, domain.version)
    assert all_tasks(pickle.loads(pickle.dumps(domain))) == tasks
    assert {task.kind for task in domain.tasks("train")} == {"treasure_hunter", "cooking"}
    assert [task.kind for task in domain.tasks("shift")] == [
        "treasure_hunter in an unseen house",
        "coin_collector",
    ]


def test_the_oracle_wins_every_task_by_admissible_actions(small):
    domain = small()
    for task in all_tasks(domain):
        world = domain.world(task, seed=0)
        seen = world.reset()
        for action in task.data["plan"]:
            assert action in seen.actions, (task.id, action)
            assert (seen.done, seen.reward < 1) == (False, True)
            seen = world.step(action)
        assert (seen.reward, seen.done, seen.actions) == (1.0, True, ())
        world.close()


async def test_the_reader_follows_the_oracle_to_the_end(small):
    domain = small()
    for task in domain.tasks("train"):

        async def ask(query, task=task):
            return domain.oracle(task)

        player, world = Reader().start(Seat(task.goal, 0)), domain.world(task, 0)
        episode = await play(task, world, player, ask, max_steps=80, advice_tokens=4000)
        world.close()
        assert episode.reward == 1.0, task.id


def test_the_goal_is_one_sentence_and_nothing_shown_tells_the_route(small):
    domain = small()
    for task in all_tasks(domain):
        assert task.goal.count(".") == 1
        assert not any(word in task.goal for word in ("north", "south", "east", "west", "open"))
        world = domain.world(task, 0)
        text = world.reset().text
        world.close()
        assert text.startswith("-= ")
        for noise in ("$$", "task for today", "hungry", "\n>", "  "):
            assert noise not in text
        assert objective_of(task.data["path"]) not in text


def objective_of(path):
    return json.loads(Path(path).with_suffix(".json").read_text())["objective"]


def test_actions_are_hidden_from_every_agent_where_the_domain_says_so(small):
    domain = small(admissible=False)
    task = domain.tasks("train")[0]
    world = domain.world(task, 0)
    assert world.reset().actions == ()
    assert world.step("look").actions == ()
    for action in task.data["plan"]:
        seen = world.step(action)
    assert seen.reward == 1.0
    world.close()
    assert domain.version != small().version


def test_the_same_recipe_gives_the_same_bytes_and_whoever_waits_is_told(
    small, tmp_path, monkeypatch, capsys
):
    order = recipes("small", 0, shift=False, houses=1)
    (first,) = generate.games(order)
    monkeypatch.setenv("METAMEM_CACHE", str(tmp_path))
    capsys.readouterr()
    (second,) = generate.games(order)
    told = capsys.readouterr().err
    assert "making 1 TextWorld games, once" in told
    assert "1 of 1 games" in told
    generate.games(order)
    assert not capsys.readouterr().err
    assert first != second
    for suffix in (".z8", ".json"):
        assert first.with_suffix(suffix).read_bytes() == second.with_suffix(suffix).read_bytes()
    assert not list(second.parent.parent.glob("making-*"))


def test_games_in_the_cache_are_not_made_again(small, monkeypatch):
    tasks = all_tasks(small())
    monkeypatch.setattr(generate, "FACTORY", "no.such.module")
    assert all_tasks(small()) == tasks


def test_a_start_elsewhere_is_another_room_of_the_same_house(small):
    for task in small().tasks("train"):
        sheet = read_sheet(Path(task.data["path"]).with_suffix(".json"))
        assert len(set(sheet.rooms.values())) == len(sheet.rooms)
        for start in sheet.starts:
            assert sum(command.startswith("go ") for command in sheet.walk(start)) < len(
                sheet.rooms
            )


def test_shift_is_in_houses_that_no_other_split_has(small):
    domain = small()
    home, away = (
        {task.data["path"] for split in splits for task in domain.tasks(split)}
        for splits in (("train", "valid", "test"), ("shift",))
    )
    assert not home & away
    maps = [
        read_sheet(Path(path).with_suffix(".json")).exits for path in sorted(home) + sorted(away)
    ]
    assert all(one != other for n, one in enumerate(maps) for other in maps[:n])
    assert "share their 2 houses" in domain.describe()
    assert "no other split has" in domain.describe()


@pytest.mark.parametrize(
    ("away", "kinds"),
    [("houses", {"treasure_hunter in an unseen house"}), ("games", {"coin_collector"})],
)
def test_shift_can_be_of_unseen_houses_or_of_other_games_alone(small, away, kinds):
    domain = small(away=away)
    assert {task.kind for task in domain.tasks("shift")} == kinds
    assert [t.data for t in domain.tasks("test")] == [t.data for t in small().tasks("test")]


def test_a_place_in_a_split_tells_no_house(small):
    """Each round visits every house once, and not always in the same order."""
    tasks = [*small(train=10).tasks("train")]
    rounds = [tuple(task.data["path"] for task in tasks[n : n + 2]) for n in range(0, 10, 2)]
    assert all(len(set(houses)) == 2 for houses in rounds)
    assert len(set(rounds)) == 2


def test_what_is_right_in_one_house_is_not_in_another(small):
    """A plan of train, whatever of it can be done, wins no game in a house that train has not."""
    domain = small()
    for task in domain.tasks("shift"):
        for known in domain.tasks("train"):
            world = domain.world(task, 0)
            seen = world.reset()
            for action in known.data["plan"]:
                if action in seen.actions:
                    seen = world.step(action)
            world.close()
            assert seen.reward < 1, (task.id, known.id)


def test_the_version_names_seed_sizes_and_settings(small):
    variants = [{}, {"seed": 1}, {"train": 5}, {"houses": 3}, {"size": "balrog"}, {"away": "games"}]
    assert len({small(**settings).version for settings in variants}) == len(variants)


def test_bad_input_is_refused_with_a_reason(small, tmp_path):
    with pytest.raises(UsageError, match="no size called"):
        small(size="huge")
    with pytest.raises(UsageError, match="no shift called"):
        small(away="moon")
    with pytest.raises(UsageError, match="at least one task"):
        small(valid=0)
    with pytest.raises(UsageError, match="at least one house"):
        small(houses=0)
    with pytest.raises(UsageError, match="no split called"):
        small().tasks("exam")
    with pytest.raises(UsageError, match="no 500 tasks left"):
        small(test=500).tasks("train")
    with pytest.raises(UsageError, match="no TextWorld games"):
        small(data=str(tmp_path))


def test_a_missing_package_is_named_with_its_extra(small, monkeypatch):
    monkeypatch.setitem(sys.modules, "textworld", None)
    with pytest.raises(UsageError, match=r"(?s)the extra textworld.*pip install .textworld"):
        small()


def test_it_says_what_a_domain_says(small):
    domain = small()
    assert (domain.name, domain.kind, domain.max_steps, domain.agent) == (
        "textworld",
        "code",
        80,
        "reader",
    )
    assert "object_places" in domain.baselines()
    assert "own games" in domain.describe()
    assert domain.invariants()
