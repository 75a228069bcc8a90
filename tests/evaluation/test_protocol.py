"""Where each phase takes its tasks, and that the splits never meet."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.core.errors import UsageError
from metamem.core.types import SPLITS
from metamem.domains.toy import ToyDomain
from metamem.evaluation.plans import plan
from metamem.evaluation.rules import Rules


def ids(tasks):
    return {t.id for t in tasks}


def test_splits_are_disjoint():
    domain = ToyDomain()
    for a, b in itertools.combinations(SPLITS, 2):
        assert not ids(domain.tasks(a)) & ids(domain.tasks(b))


def test_train_collects_on_its_first_half_and_deploys_on_the_second():
    domain = ToyDomain()
    made = plan(domain, "train", Rules())
    assert [*made.collection, *made.deployment] == domain.tasks("train")
    assert abs(len(made.collection) - len(made.deployment)) <= 1


@pytest.mark.parametrize("split", ["valid", "test", "shift"])
def test_other_splits_collect_on_all_of_train(split):
    domain = ToyDomain()
    made = plan(domain, split, Rules(repeats=3))
    assert list(made.collection) == domain.tasks("train")
    assert list(made.deployment) == domain.tasks(split)
    assert len(made.cases) == 3 * len(domain.tasks(split))
    assert [c.repeat for c in made.cases] == sorted(c.repeat for c in made.cases)


def test_alma_takes_both_phases_from_the_split_itself():
    domain = ToyDomain()
    made = plan(domain, "test", Rules(tasks_from="alma"))
    assert ids(made.collection) | ids(made.deployment) == ids(domain.tasks("test"))
    assert not ids(made.collection) & ids(made.deployment)


def test_the_size_of_the_collection_is_honoured():
    assert len(plan(ToyDomain(), "test", Rules(collect=7)).collection) == 7
    assert plan(ToyDomain(), "test", Rules(collect=0)).collection == ()
    assert len(plan(ToyDomain(), "test", Rules(collect=None)).collection) == 40


def test_the_stored_form_is_what_it_was_before_one_could_collect_nothing():
    """Fingerprints and runs hold it: there, 0 stands for all tasks."""
    stored = {"rollout": "frozen", "repeats": 1, "collect": 0, "max_steps": 0, "ask_every": 0}
    stored |= {"advice_tokens": 4000, "tasks_from": "split", "fold": 0}
    assert Rules().to_json() == stored
    assert Rules.from_json(stored) == Rules()


@given(st.none() | st.integers(0, 500))
def test_rules_come_back_from_their_stored_form(collect):
    rules = Rules(collect=collect, repeats=2)
    assert Rules.from_json(rules.to_json()) == rules


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
        Rules(**wrong)


def test_more_collection_than_there_is_is_refused():
    with pytest.raises(UsageError, match="there are"):
        plan(ToyDomain(), "train", Rules(collect=10_000))


class WithReserve(ToyDomain):
    made = 0

    def reserve(self):
        self.made += 1
        return [replace(t, id=f"further-{n}") for n, t in enumerate(self.tasks("train") * 3)]


def test_who_asks_for_more_of_train_than_an_evaluation_plays_is_given_of_the_reserve():
    domain = WithReserve()
    usual = plan(domain, "train", Rules())
    assert usual == plan(ToyDomain(), "train", Rules())
    assert plan(domain, "test", Rules()) == plan(ToyDomain(), "test", Rules())
    assert domain.made == 0  # nothing is made that nobody reads
    half = len(usual.deployment)
    few, more, most = (plan(domain, "train", Rules(tasks=n)) for n in (2, half + 2, half + 5))
    assert ids(few.deployment) <= ids(usual.deployment) < ids(more.deployment)
    assert ids(more.deployment) < ids(most.deployment) and len(most.deployment) == half + 5
    assert more.collection == usual.collection
    both = plan(domain, "train", Rules(tasks=half + 5, collect=len(usual.collection) + 5))
    assert not ids(both.collection) & ids(both.deployment)
    tested = plan(domain, "test", Rules(collect=len(domain.tasks("train")) + 7))
    assert len(tested.collection) == len(domain.tasks("train")) + 7
    assert list(tested.deployment) == domain.tasks("test")


def test_even_a_reserve_ends():
    with pytest.raises(UsageError, match="tasks were asked for"):
        plan(WithReserve(), "train", Rules(tasks=100_000))
