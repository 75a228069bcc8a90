"""The published BALROG games, where they lie beside the project."""

import tarfile

import pytest

from metamem.core.types import SPLITS
from metamem.domains.textworld.domain import TextWorldDomain
from tests.thirdparty import third_party


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    archive = third_party("textworld_balrog.tar.xz")
    target = tmp_path_factory.mktemp("balrog")
    with tarfile.open(archive) as content:
        content.extractall(target, filter="data")
    return target / "textworld_balrog"


@pytest.fixture
def official(folder):
    return TextWorldDomain(data=str(folder), train=24, valid=13, test=13, shift=25)


def test_all_games_are_dealt_out_and_each_split_has_its_families(official):
    tasks = {split: official.tasks(split) for split in SPLITS}
    assert [len(tasks[split]) for split in SPLITS] == [24, 13, 13, 25]
    assert len({t.data["path"] for own in tasks.values() for t in own}) == 75
    assert {t.kind for t in tasks["train"]} == {"treasure_hunter", "cooking"}
    assert {t.kind for t in tasks["shift"]} == {"coin_collector"}
    for own in tasks.values():
        for task in own:
            assert task.goal.count(".") == 1
            assert "seed" not in task.id


@pytest.mark.slow
def test_published_walkthroughs_win(official):
    for task in (*official.tasks("train")[:2], official.tasks("shift")[0]):
        world = official.world(task, 0)
        world.reset()
        for action in task.data["plan"]:
            seen = world.step(action)
        world.close()
        assert (seen.reward, seen.done) == (1.0, True), task.kind
