"""Where each phase takes its tasks, and that the splits never meet."""

import itertools

import pytest

from metamem.core.errors import UsageError
from metamem.core.types import SPLITS
from metamem.domains.toy import ToyDomain
from metamem.evaluation.protocol import Protocol, plan


def ids(tasks):
    return {t.id for t in tasks}


def test_splits_are_disjoint():
    domain = ToyDomain()
    for a, b in itertools.combinations(SPLITS, 2):
        assert not ids(domain.tasks(a)) & ids(domain.tasks(b))


def test_train_collects_on_its_first_half_and_deploys_on_the_second():
    domain = ToyDomain()
    made = plan(domain, "train", Protocol())
    assert [*made.collection, *made.deployment] == domain.tasks("train")
    assert abs(len(made.collection) - len(made.deployment)) <= 1


@pytest.mark.parametrize("split", ["valid", "test", "shift"])
def test_other_splits_collect_on_all_of_train(split):
    domain = ToyDomain()
    made = plan(domain, split, Protocol(repeats=3))
    assert list(made.collection) == domain.tasks("train")
    assert list(made.deployment) == domain.tasks(split)
    assert len(made.cases) == 3 * len(domain.tasks(split))
    assert [c.repeat for c in made.cases] == sorted(c.repeat for c in made.cases)


def test_alma_takes_both_phases_from_the_split_itself():
    domain = ToyDomain()
    made = plan(domain, "test", Protocol(tasks_from="alma"))
    assert ids(made.collection) | ids(made.deployment) == ids(domain.tasks("test"))
    assert not ids(made.collection) & ids(made.deployment)


def test_the_size_of_the_collection_is_honoured():
    assert len(plan(ToyDomain(), "test", Protocol(collect=7)).collection) == 7


@pytest.mark.parametrize(
    "wrong",
    [
        {"rollout": "sideways"},
        {"tasks_from": "nowhere"},
        {"repeats": 0},
        {"collect": -1},
        {"advice_tokens": 0},
        {"ask_every": -2},
    ],
)
def test_wrong_rules_are_refused(wrong):
    with pytest.raises(UsageError):
        Protocol(**wrong)


def test_more_collection_than_there_is_is_refused():
    with pytest.raises(UsageError, match="there are"):
        plan(ToyDomain(), "train", Protocol(collect=10_000))
