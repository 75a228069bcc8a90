"""Games that are recalled word for word are not won; those that are understood are.

The cheat has the right answer of every training task and plays the one whose task looks most alike.
"""

from statistics import fmean

import pytest
from bench.leaks import actions_of, by_goal, by_number, by_sight, first_sight, most_common, replayed

from metamem.domains.alfworld.domain import AlfworldDomain
from metamem.domains.baba.domain import BabaDomain

DOMAINS = {
    "baba": BabaDomain(train=74, test=37),
    "alfworld": AlfworldDomain("generated", train=80, test=40),
}


@pytest.mark.parametrize("name", DOMAINS)
def test_recalling_text_wins_next_to_nothing(name: str) -> None:
    domain = DOMAINS[name]
    known = [
        (task, first_sight(domain, task), answer)
        for task in domain.tasks("train")
        if (answer := domain.oracle(task))
    ]
    tasks = domain.tasks("test")
    own = fmean(replayed(domain, task, actions_of(domain.oracle(task))) for task in tasks)
    assert own > 0.7
    trained = {sight for _, sight, _ in known}
    for recall in (by_sight, by_goal, by_number, most_common):
        won = []
        for number, task in enumerate(tasks):
            sight = first_sight(domain, task)
            assert sight not in trained
            won.append(replayed(domain, task, actions_of(recall(number, task, sight, known))))
        assert fmean(won) < 0.2 * own, recall.__name__


def test_the_cheat_wins_where_tests_are_those_of_train() -> None:
    """The probe can find a leak: with the test's own tasks among what is known, it wins them."""
    domain = DOMAINS["baba"]
    tasks = [task for task in domain.tasks("train") if domain.oracle(task)][:20]
    known = [(task, first_sight(domain, task), domain.oracle(task)) for task in tasks]
    for task, sight, _ in known:
        assert replayed(domain, task, actions_of(by_sight(0, task, sight, known))) == 1.0
