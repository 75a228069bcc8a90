"""Proposers of parameters: whatever they do, it lies in the space; what they learn, the journal says."""

import math
import os
import subprocess
import sys
from collections import Counter
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metamem.core import registry
from metamem.core.errors import NotInstalled, UsageError
from metamem.core.extras import EXTRAS
from metamem.core.space import Choice, Float, Int, Only, Space
from metamem.domains.dials import DialsDomain
from metamem.search.parameters import Adaptive, Annealing, step_width
from metamem.search.parameters.adaptive import chances
from metamem.search.parameters.annealing import AT_FIRST, walked
from metamem.search.parameters.crossover import FOUNDERS
from metamem.search.proposer import OperatorOutcome, Tried
from tests.core.test_space import spaces
from tests.extras import needs
from tests.search.proposing import answered, asked, made, people

OWN = ("gaussian", "annealing", "crossover", "adaptive", "sample")
LIBRARY = ("tpe", "cmaes")
DIALS = DialsDomain.space
UNHURRIED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}


def create(name):
    if name in LIBRARY:
        needs("optuna")
        needs("cmaes")
    return registry.create("proposers", name)


def history(space, seed, number, operators=OWN):
    """Some sets that were tried, the defaults first, with whatever rewards."""
    luck = Random(seed)
    tried = [people(space, luck.random())]
    for _ in range(number):
        design = space.design(space.drawn(luck))
        tried.append(made(design, luck.random(), luck.choice(operators)))
    return tried


@pytest.mark.parametrize("name", OWN)
@settings(max_examples=50, **UNHURRIED)
@given(space=spaces(), seed=st.integers(0, 2**32), number=st.integers(0, 20))
def test_whatever_is_proposed_lies_in_the_space(name, space, seed, number):
    request = asked(space, history(space, seed, number), seed)
    found = answered(create(name), request)
    space.read(found.design)  # checks all of it
    assert set(found.parents) <= {each.design.id for each in request.tried}
    assert found == answered(create(name), request)  # and follows from the request alone


@pytest.mark.parametrize("name", LIBRARY)
@settings(max_examples=15, **UNHURRIED)
@given(space=spaces(), seed=st.integers(0, 2**32), number=st.integers(0, 20))
def test_so_does_what_the_library_proposes(name, space, seed, number):
    proposer = create(name)
    request = asked(space, history(space, seed, number, LIBRARY), seed)
    found = answered(proposer, request)
    space.read(found.design)
    assert found == answered(proposer, request)


IN_A_PROCESS = """
from tests.search.test_parameter_proposers import DIALS, OWN, answered, asked, create, history
for name in OWN:
    for seed in range(30):
        print(answered(create(name), asked(DIALS, history(DIALS, seed, 15), seed)))
"""


@pytest.mark.slow
def test_every_process_proposes_the_same():
    """Whatever the order in which its sets happen to lie."""
    said = [
        subprocess.run(
            [sys.executable, "-c", IN_A_PROCESS],
            env={**os.environ, "PYTHONHASHSEED": luck},
            capture_output=True,
            check=True,
        ).stdout
        for luck in ("1", "2")
    ]
    assert said[0] == said[1] and said[0].count(b"\n") == 30 * len(OWN)


@pytest.mark.slow
def test_ten_thousand_proposals_all_lie_in_the_space():
    """All proposers in turn, each building on what all of them made before."""
    needs("optuna")
    needs("cmaes")
    quick = [create(name) for name in OWN]
    library = [create(name) for name in LIBRARY]
    tried = [people(DIALS)]
    outcomes: list[OperatorOutcome] = []
    types, changed = Counter(), 0
    for n in range(10_000):
        several = library if n % 50 == 0 else quick
        proposer = several[n // 7 % len(several)]
        request = asked(DIALS, tried, n, tuple(outcomes[-40:]))
        found = answered(proposer, request)
        values = DIALS.read(found.design)
        changed += found.design != request.parents[0].design
        for name, value in values.items():
            types[name, type(value)] += 1
        mean = Random(n).random()
        outcomes.append(OperatorOutcome(found.operator, mean - 0.5, 0.0, mean - 0.9))
        tried = [tried[0], *tried[1:][-30:], made(found.design, mean, found.operator)]
    assert changed > 9_900
    assert dict(types.keys()) == {
        "frequency": float, "gain": float, "stages": int, "filter": str, "width": float,
        "stereo": bool,
    }  # fmt: skip
    assert len(types) == 6  # no parameter ever had two types


def test_without_the_extra_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setitem(EXTRAS, "optuna", ("no_such_package",))
    for name in LIBRARY:
        with pytest.raises(NotInstalled, match="no_such_package"):
            registry.create("proposers", name)


def test_a_domain_without_parameters_is_refused():
    for name in OWN:
        with pytest.raises(UsageError, match="the domain has none"):
            request = asked(DIALS, [people(DIALS)])
            answered(create(name), type(request)(parents=request.parents, tried=request.tried))


# --- gaussian -------------------------------------------------------------------------------


def test_steps_narrow_until_something_helps():
    worse, better = OperatorOutcome("gaussian", -1.0), OperatorOutcome("gaussian", 1.0)
    assert step_width([worse] * 8) < step_width([]) < step_width([better])
    assert step_width([better] + [worse] * 4) == pytest.approx(step_width([]))
    assert step_width([worse] * 1000) > 0 and step_width([better] * 1000) <= 0.5


def test_steps_heed_neither_copies_nor_other_operators():
    others = [OperatorOutcome("crossover", 1.0), OperatorOutcome("gaussian", None)]
    assert step_width(others * 9) == step_width([])


# --- annealing ------------------------------------------------------------------------------


def line(*means, operator="annealing"):
    """The defaults, then steps with these rewards, each another set."""
    space = Space({"n": Int(0, 10_000, 0)})
    steps = [made(space.design({"n": n + 1}), mean, operator) for n, mean in enumerate(means)]
    return [people(space, means[0]), *steps]


def test_the_walk_takes_every_better_step():
    tried = line(0.1, 0.2, 0.3, 0.4)
    assert walked(tried, 0.95).at == tried[-1] and walked(tried, 0.95).taken == 4


def test_a_worse_step_is_taken_by_chance_while_it_is_hot_and_never_when_it_is_cold():
    space = Space({"n": Int(0, 10_000, 0)})
    begin = people(space, 0.5)
    once = [made(space.design({"n": n}), 0.4, "annealing") for n in range(1, 4001)]
    taken = sum(walked([begin, step], 0.999).at == step for step in once)
    assert taken / 4000 == pytest.approx(AT_FIRST, abs=4 * math.sqrt(AT_FIRST / 4000))
    cold = [begin, *once[:400]]
    late = walked(cold, 0.9)
    assert late.temperature(0.9) < 1e-12
    assert late.at == walked([*cold, made(space.design({"n": 5000}), 0.3999, "annealing")], 0.9).at


def test_a_small_loss_is_taken_more_often_than_a_large_one():
    space = Space({"n": Int(0, 10_000, 0)})
    before = [people(space, 0.5), made(space.design({"n": 1}), 0.3, "annealing")]
    before = before if walked(before, 0.95).taken == 0 else []
    assert before

    def share(mean):
        steps = [made(space.design({"n": n}), mean, "annealing") for n in range(2, 2002)]
        return sum(walked([*before, step], 0.95).taken for step in steps) / 2000

    assert share(0.499) > 0.9 > share(0.4) > share(0.2)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_what_comes_later_changes_no_step_of_before(means):
    tried = line(*means)
    for end in range(2, len(tried)):
        so_far = walked(tried[:end], 0.95)
        assert walked(tried[: end + 1], 0.95) == so_far.after(tried[end], 0.95)


def test_it_goes_on_from_where_it_stands_whomever_the_selector_chose():
    tried = [people(DIALS, 0.5)]
    best = made(DIALS.design(DIALS.completed({"gain": 9.0})), 0.9, "annealing")
    request = asked(DIALS, [*tried, best])
    shown = type(request)(parents=[request.parents[1]], tried=request.tried, space=DIALS, seed=1)
    assert answered(Annealing(), shown).parents == (best.design.id,)


def test_what_others_found_is_where_it_goes_on():
    tried = line(0.5, 0.4)
    better = line(0.5, 0.9, operator="gaussian")[-1]
    assert walked([*tried, better], 0.95).at == better
    assert walked([*tried, Tried(better.design, 0.1, "gaussian")], 0.95).at != better


def test_a_temperature_that_never_falls_is_refused():
    with pytest.raises(UsageError, match="cooling"):
        Annealing(cooling=1.0)


# --- crossover ------------------------------------------------------------------------------


def test_children_lie_between_two_of_the_archive():
    space = Space({f"x{n}": Float(0.0, 1.0, 0.5) for n in range(6)})
    low = made(space.design({f"x{n}": 0.4 for n in range(6)}), 0.9, "sample")
    high = made(space.design({f"x{n}": 0.6 for n in range(6)}), 0.8, "sample")
    rest = [made(space.design(space.drawn(Random(n))), 0.1, "sample") for n in range(FOUNDERS)]
    both = Counter()
    for seed in range(200):
        request = asked(space, [people(space), low, high, *rest], seed)
        child = answered(create("crossover"), request)
        assert child.parents[0] == low.design.id and len(child.parents) == 2
        both[child.parents[1]] += 1
        if child.parents[1] == high.design.id:
            inside = [0.3 <= v <= 0.7 for v in space.read(child.design).values()]
            assert sum(inside) >= 4  # but for those that were moved besides
    assert both[high.design.id] > 50


def test_until_there_are_founders_there_is_nothing_to_cross():
    few = history(DIALS, 1, FOUNDERS - 1)
    assert answered(create("crossover"), asked(DIALS, few)).parents == ()
    enough = history(DIALS, 1, FOUNDERS)
    assert len(answered(create("crossover"), asked(DIALS, enough)).parents) == 2


def test_what_holds_with_one_parent_alone_comes_along_where_it_holds():
    space = Space(
        {
            "mode": Choice(("plain", "fine"), "plain"),
            "depth": Int(1, 9, 1, only=Only("mode", ("fine",))),
            "x": Float(0.0, 1.0, 0.0),
        }
    )
    plain = space.design({"mode": "plain", "x": 0.2})
    fine = space.design({"mode": "fine", "depth": 7, "x": 0.8})
    tried = [Tried(plain, 0.9, "sample"), Tried(fine, 0.8, "sample")]
    rest = [Tried(plain, 0.0, "sample")] * FOUNDERS
    seen = set()
    for seed in range(100):
        values = space.read(answered(create("crossover"), asked(space, tried + rest, seed)).design)
        seen.add((values["mode"], values.get("depth")))
    assert ("fine", 7) in seen and ("plain", None) in seen


# --- adaptive -------------------------------------------------------------------------------


def test_the_operator_that_brings_the_search_ahead_is_asked_more_often():
    good, bad = (
        OperatorOutcome("gaussian", 0.1, 0.0, 0.1),
        OperatorOutcome("sample", 0.3, 0.0, -0.2),
    )
    odds = chances([good, bad] * 15, ("gaussian", "sample"))
    assert odds["gaussian"] > 0.8 and odds["sample"] > 0.02  # which never dies
    assert chances([], ("gaussian", "sample")) == {"gaussian": 0.5, "sample": 0.5}


def test_who_was_good_long_ago_is_not_favoured_for_ever():
    then = [OperatorOutcome("gaussian", 0.1, 0.0, 0.1)] * 5
    now = [OperatorOutcome("sample", 0.1, 0.0, 0.1), OperatorOutcome("gaussian", 0.0, 0.0, -0.1)]
    odds = chances([*then, *now * 60], ("gaussian", "sample"))
    assert odds["sample"] > 0.7


@pytest.mark.parametrize(
    "operators", [("gaussian",), ("gaussian", "recombine"), ("gaussian", "adaptive")]
)
def test_what_are_no_operators_to_choose_among_is_refused(operators):
    with pytest.raises(UsageError):
        Adaptive(operators)
