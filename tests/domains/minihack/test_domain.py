"""The domain: splits, versions, worlds, the oracle, Boxoban levels."""

import pickle
import tarfile

import pytest

from tests.extras import needs

needs("minihack")

import gymnasium

from metamem.core.errors import UsageError
from metamem.core.extras import EXTRAS
from metamem.core.types import SPLITS
from metamem.domains.minihack.domain import BOXOBAN_VARIABLE, MiniHackDomain
from metamem.domains.minihack.tasks import BOXOBAN_SETS, FAMILIES, SHIFTED
from tests.thirdparty import third_party

SMALL = {"train": 24, "valid": 12, "test": 12, "shift": 12}


def all_tasks(domain):
    return [task for split in SPLITS for task in domain.tasks(split)]


@pytest.fixture(scope="module")
def boxoban(tmp_path_factory):
    folder = tmp_path_factory.mktemp("boxoban")
    with tarfile.open(third_party("boxoban_levels.tar.xz")) as archive:
        archive.extractall(folder, filter="data")
    return folder / "boxoban-levels-master"


def test_the_games_are_those_of_the_paper():
    left_out = ("Custom", "MultiRoom", "LavaCrossing", "SimpleCrossing")
    registered = {
        name
        for name in gymnasium.registry
        if name.startswith("MiniHack-") and not any(word in name for word in left_out)
    }
    ours = [n for family in (*FAMILIES, *SHIFTED) for n in (*family.names, *family.few)]
    assert {*ours, *BOXOBAN_SETS} == registered
    assert len(ours) == len(set(ours)) == 122


def test_splits_are_disjoint_stable_and_of_the_size_asked_for():
    domain = MiniHackDomain(**SMALL)
    assert [len(domain.tasks(split)) for split in SPLITS] == list(SMALL.values())
    tasks = all_tasks(domain)
    levels = {(task.data["name"], task.data["seed"]) for task in tasks}
    assert len({task.id for task in tasks}) == len(levels) == len(tasks)
    assert all_tasks(MiniHackDomain(**SMALL)) == tasks
    assert all_tasks(pickle.loads(pickle.dumps(domain))) == tasks
    assert all_tasks(MiniHackDomain(**SMALL, seed=1)) != tasks


def test_games_of_few_levels_are_for_training_alone_and_shifted_ones_for_shift():
    domain = MiniHackDomain(train=200, valid=100, test=100, shift=40)
    few = {name for family in FAMILIES for name in family.few}
    shifted = {name for family in SHIFTED for name in family.names}
    names = {split: [task.data["name"] for task in domain.tasks(split)] for split in SPLITS}
    assert few <= set(names["train"]) and len(few & set(names["train"])) == 31
    assert all(names["train"].count(name) == 1 for name in few)
    assert not few & {*names["valid"], *names["test"], *names["shift"]}
    assert set(names["shift"]) == shifted
    assert not shifted & {*names["train"], *names["valid"], *names["test"]}


def test_ids_tell_nothing_of_the_game():
    for task in all_tasks(MiniHackDomain(**SMALL)):
        assert not any(part.lower() in task.id for part in task.data["name"].split("-")[1:2])


def test_the_version_names_seed_and_sizes():
    versions = {
        MiniHackDomain().version,
        MiniHackDomain(seed=1).version,
        MiniHackDomain(train=50).version,
    }
    assert len(versions) == 3
    assert MiniHackDomain().version == MiniHackDomain().version


def test_bad_settings_are_refused(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="at least one task"):
        MiniHackDomain(train=0)
    with pytest.raises(UsageError, match="no split"):
        MiniHackDomain(**SMALL).tasks("dev")
    with pytest.raises(UsageError, match="no Boxoban levels"):
        MiniHackDomain(data=str(tmp_path))
    monkeypatch.setitem(EXTRAS, "minihack", ("nle", "no_such_engine"))
    with pytest.raises(
        UsageError, match=r"(?s)no_such_engine.*the extra minihack.*pip install .*nle"
    ):
        MiniHackDomain()


def test_the_oracle_s_advice_wins_when_followed_and_is_the_same_each_time():
    """Most levels have a plan; every plan that is given wins exactly at its last action."""
    domain, again = MiniHackDomain(**SMALL), MiniHackDomain(**SMALL)
    planned = 0
    for number, task in enumerate(domain.tasks("train")):
        advice = domain.oracle(task)
        assert number >= 5 or again.oracle(task) == advice
        if not advice:
            continue
        planned += 1
        world = domain.world(task, seed=planned)
        world.reset()
        actions = [line.partition(". ")[2] for line in advice.splitlines()]
        seen = [world.step(action) for action in actions]
        assert [s.done for s in seen] == [False] * (len(seen) - 1) + [True]
        assert seen[-1].reward == 1.0 and len(seen) <= domain.max_steps
        world.close()
    assert planned >= len(domain.tasks("train")) * 2 // 3


@pytest.mark.data
def test_boxoban_levels_become_part_of_the_shift(boxoban, monkeypatch):
    domain = MiniHackDomain(**SMALL, data=str(boxoban))
    boxes = [task for task in domain.tasks("shift") if task.kind == "boxoban"]
    assert len(boxes) == 3 and len(domain.tasks("shift")) == 12
    assert {task.data["name"] for task in boxes} == set(list(BOXOBAN_SETS)[:2])
    assert domain.version != MiniHackDomain(**SMALL).version
    for task in boxes:
        world = domain.world(task, seed=0)
        seen = world.reset()
        assert world.reset() == seen
        assert "boulder" in seen.text and "fountain" in seen.text
        assert set(seen.actions) <= {"north", "east", "south", "west"}
        assert not world.step(seen.actions[0]).done
        world.close()
    monkeypatch.setenv(BOXOBAN_VARIABLE, str(boxoban))
    assert MiniHackDomain(**SMALL).version == domain.version
