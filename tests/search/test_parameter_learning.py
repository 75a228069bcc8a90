"""Proposers of parameters in a search: what is planted is found, and where nothing is, nothing is."""

from random import Random
from statistics import fmean, stdev

import pytest

from metamem.core.ids import derive_seed
from metamem.core.space import Bool, Float, Int, Only, Space
from metamem.evaluation.statistics import binomial_tail
from metamem.search.parameters import Adaptive
from metamem.search.proposer import Proposal, Request
from tests.search.proposing import passes, searched
from tests.search.test_parameter_proposers import LIBRARY, create

SPACE = Space(
    {
        "x": Float(0.0, 1.0, 0.2),
        "y": Float(0.01, 100.0, 1.0, log=True),
        "n": Int(0, 9, 2),
        "on": Bool(False),
        "deep": Float(0.0, 1.0, 0.0, only=Only("on", (True,))),
    }
)
OPERATORS = ("gaussian", "annealing", "crossover", "sample")


def planted(values) -> float:
    """The defaults reach .46, and much more can be had."""
    lost = abs(values["x"] - 0.8) + abs(values["n"] - 7) / 10
    return 0.9 + 0.1 * values["on"] - 0.4 * lost


def nothing(values) -> float:
    return 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seeds"), [*((n, 100) for n in ("gaussian", "annealing", "crossover", "adaptive")), *((n, 20) for n in LIBRARY)])  # fmt: skip
def test_what_is_planted_is_found_and_passes_the_gate(name, seeds):
    proposer = create(name)
    found = 0
    for seed in range(seeds):
        ended = searched(SPACE, planted, proposer, derive_seed(name, seed), 24)
        found += passes(SPACE, planted, ended, seed)
    assert found >= 0.95 * seeds


@pytest.mark.slow
def test_on_noise_nothing_is_promoted_beyond_its_level_and_no_operator_is_favoured():
    """All operators take part in 200 searches; the gate's level is 1 %."""
    proposer, promoted = Adaptive(OPERATORS), 0
    shares: dict[str, list[float]] = {name: [] for name in OPERATORS}
    for seed in range(200):
        ended = searched(SPACE, nothing, proposer, seed, 24)
        promoted += passes(SPACE, nothing, ended, seed)
        for name in OPERATORS:
            shares[name].append(ended.share(name))
    assert binomial_tail(promoted, 200, 0.01) > 0.001  # were it so often by luck alone
    for found in shares.values():
        assert fmean(found) == pytest.approx(1 / 4, abs=4 * stdev(found) / 200**0.5)


class Climbs:
    """An operator that knows the way: what the others need luck for."""

    kind = "params"

    async def propose(self, request: Request) -> Proposal:
        space, parent = request.space, request.parents[0].design
        values = space.read(parent)
        higher = min(1.0, values["x"] + 0.01 + Random(request.seed).random() / 30)
        child = space.design({**values, "x": higher})
        return Proposal(child, (parent.id,), "climbs", "a little higher")


def test_the_bandit_shifts_to_an_operator_that_is_better():
    space = Space({"x": Float(0.0, 1.0, 0.0), **{f"y{n}": Float(0.0, 1.0, 1.0) for n in range(5)}})

    def narrow(values) -> float:
        off = sum(1.0 - values[f"y{n}"] for n in range(5))  # all but one step lead astray
        return 8 * values["x"] - 20 * off

    better = f"{__name__}:Climbs"
    proposer = Adaptive(("sample", "crossover", better))
    shifted = 0
    for seed in range(100):
        ended = searched(space, narrow, proposer, seed, 60)
        shifted += ended.share(better, last=24) > 1 / 2  # even would be 1 / 3
    assert shifted >= 95
