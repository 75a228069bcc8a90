"""What is seen in one task does not answer another: memories that cheat gain nothing, habits do."""

import pytest
from bench.coding_leaks import probes, restores, rewards
from bench.coding_probes import CHEATS

from metamem.domains.coding.domain import CodingDomain
from metamem.domains.coding.projects import bugs
from metamem.sandbox import bubblewrap

ASKED = 16  # tasks of a split: two of each seen project
CHANCE = 1 / 16  # one lucky hit is no leak
PLANTED = ("lines of the same file", "same docstring", "same structure")

jailed = pytest.mark.skipif(not bubblewrap.works(), reason="the isolation bwrap does not work here")


@pytest.mark.parametrize("name", CHEATS)
@pytest.mark.parametrize("split", ["test", "shift"])
def test_recall_of_text_does_not_hold_the_repair(name: str, split: str) -> None:
    assert restores(CHEATS[name], bugs("train"), bugs(split)[:ASKED]) <= CHANCE


@pytest.mark.parametrize("name", CHEATS)
def test_nor_does_the_first_half_of_train_hold_repairs_of_the_second(name: str) -> None:
    train = bugs("train")
    half = len(train) // 2
    assert restores(CHEATS[name], train[:half], train[half:][:ASKED]) <= CHANCE


@pytest.mark.parametrize("name", PLANTED)
def test_the_cheats_would_find_a_leak(name: str) -> None:
    train = bugs("train")[:ASKED]
    assert restores(CHEATS[name], train, train) >= 0.25


@jailed
@pytest.mark.slow
async def test_who_knows_the_kind_of_fault_gains(tmp_path) -> None:
    domain = CodingDomain(cache=str(tmp_path))
    tasks, asked = domain.tasks("test")[:10], bugs("test")[:10]
    none = await rewards(domain, tasks, asked, None)
    knowing = await rewards(domain, tasks, asked, probes(bugs("train"))["how: the true kind"])
    assert sum(knowing) >= sum(none) + 2
