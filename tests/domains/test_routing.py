"""Routing as a domain of parameters: the suite, streams that share no row, intervals that hold, the loop."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import pytest

from bench import routing_loop
from metamem.core.errors import DataError, UsageError
from metamem.core.protocols import Trial
from metamem.core.types import SPLITS
from metamem.domains.base import Sizes
from metamem.domains.conformance import ParamsConformance
from metamem.domains.routing import LEAST, PARTS, RoutingDomain, cut, needed, part
from metamem.evaluation.statistics import binomial_tail, t_interval
from metamem.promotion.evidence import Rival, paired_gain
from metamem.routing import Context, Outcome, Settings
from metamem.routing.reading import Row
from metamem.routing.settings import SPACE

MANY = Sizes(1000, 1000, 1000, 1000)
WEIGHTS = {"cost_weight", "latency_weight"}


class TestRouting(ParamsConformance):
    def make(self) -> RoutingDomain:
        return RoutingDomain(rounds=8)


def test_the_space_has_every_setting_but_what_cost_and_latency_are_worth() -> None:
    usual = asdict(Settings())
    assert SPACE.defaults() == {name: usual[name] for name in usual if name not in WEIGHTS}


async def _rewards(domain: RoutingDomain, split: str, **values: float) -> list[float]:
    settings = {**domain.space.defaults(), **values}
    return [(await domain.score(settings, t, Trial(1))).reward for t in domain.tasks(split)]


async def test_what_cost_is_worth_is_the_domains_word_and_nobody_elses() -> None:
    cheap, dear = [
        fmean(await _rewards(RoutingDomain(rounds=20, cost_weight=w, valid=12), "valid"))
        for w in (0.1, 1.0)
    ]
    assert dear < cheap - 0.1
    for name in WEIGHTS:
        with pytest.raises(UsageError, match="no parameters of this space"):
            await _rewards(RoutingDomain(rounds=20, valid=1), "valid", **{name: 0.1})


async def test_a_stream_is_the_same_for_every_setting_and_order() -> None:
    domain = RoutingDomain(rounds=20)
    tasks = domain.tasks("test")[:3]
    values = domain.space.defaults()
    forth = [await domain.score(values, task, Trial(5)) for task in tasks]
    back = [await domain.score(values, task, Trial(5)) for task in reversed(tasks)]
    assert forth == back[::-1]


async def test_arms_that_are_all_alike_leave_nothing_to_learn() -> None:
    domain = RoutingDomain(rounds=30, effect=0.0, valid=6)
    other = await _rewards(domain, "valid", boldness=3.0, floor=0.5)
    assert await _rewards(domain, "valid") == pytest.approx(other)


async def test_outcomes_that_are_dealt_by_chance_leave_nothing_to_learn() -> None:
    """They differ from arm to arm, and every setting is worth the same on average."""
    domain = RoutingDomain(rounds=10, shuffled=True, valid=80)
    one, other = await _rewards(domain, "valid"), await _rewards(domain, "valid", boldness=3.0)
    assert one != other
    gains = [ours - theirs for ours, theirs in zip(one, other, strict=True)]
    low, high = t_interval(gains, 0.999)
    assert low < 0.0 < high


def test_the_range_of_rewards_is_what_cost_and_latency_can_take() -> None:
    low, high = RoutingDomain().reward_range
    assert (low, high) == (pytest.approx(-0.5, abs=0.001), 1.0)
    assert RoutingDomain(cost_weight=0.0, latency_weight=0.0).reward_range == (0.0, 1.0)
    assert RoutingDomain(cost_weight=1.0).reward_range[0] < -2.0


def test_a_gain_of_a_twentieth_passes_the_gate_at_the_usual_sizes() -> None:
    """Gains of single streams spread by about a tenth; three candidates share the gate's level."""
    domain = RoutingDomain()
    rule, tasks = paired_gain(domain.reward_range), [task.id for task in domain.tasks("valid")]
    passed = 0
    for seed in range(20):
        luck = random.Random(seed)
        ours = {task: 0.5 + luck.gauss(0.05, 0.1) for task in tasks}
        rival = Rival("defaults", 0.5, dict.fromkeys(tasks, 0.5))
        passed += rule.judge(ours, rival, level=0.01 / 3, seed=seed).passed
    assert passed >= 19


@pytest.mark.slow
def test_what_is_planted_passes_the_gate_and_chance_does_not(tmp_path: Path) -> None:
    """The one loop, as for every other domain; python -m bench.routing_loop has it 300 times."""
    found = routing_loop.learned(tmp_path, 1, shuffled=False)
    assert found.promoted, found.summary.decision
    assert found.learned is not None
    assert json.loads(found.learned.source)["dimensions"] != 32
    assert not routing_loop.learned(tmp_path, 1, shuffled=True).promoted


# --- rows of one's own ----------------------------------------------------------------------


def _equal(luck: random.Random, count: int) -> Iterator[dict[str, object]]:
    """Arms of which each succeeds with half of all tasks."""
    for n in range(count):
        outcomes = {arm: {"success": float(luck.random() < 0.5)} for arm in ("a", "b")}
        yield {"task": f"task {n}", "outcomes": outcomes}


@pytest.fixture
def data(tmp_path: Path) -> Callable[..., str]:
    def data(count: int, seed: int = 0) -> str:
        path = tmp_path / "rows.jsonl"
        path.write_text("\n".join(map(json.dumps, _equal(random.Random(seed), count))))
        return str(path)

    return data


def _rows(count: int) -> list[Row]:
    return [Row(Context(str(n)), {"a": Outcome(1.0), "b": Outcome(0.0)}) for n in range(count)]


def test_no_row_is_in_two_streams_and_all_come_in_their_order() -> None:
    rows = _rows(needed(7, LEAST))
    assert [row for split in PARTS for row in part(rows, split)] == rows
    streams = [stream for split in SPLITS for stream in cut(rows, 7, MANY)[split]]
    dealt = [int(row.context.task) for stream in streams for row in stream]
    assert dealt == sorted(set(dealt)) and {len(stream) for stream in streams} == {7}


def test_of_more_rows_than_are_asked_for_streams_come_from_all_parts() -> None:
    rows = _rows(10 * needed(5, LEAST))
    found = cut(rows, 5, Sizes(16, 30, 8, 8))
    own = part(rows, "valid")
    starts = [int(stream[0].context.task) - int(own[0].context.task) for stream in found["valid"]]
    assert len(starts) == 30 and starts == sorted(starts) and starts[-1] > 0.9 * len(own)
    assert min(b - a for a, b in pairwise(starts)) >= 5


@pytest.mark.parametrize("rounds", [2, 5, 30])
def test_too_few_rows_are_refused_with_the_number_that_it_takes(
    rounds: int, data: Callable[..., str]
) -> None:
    enough = needed(rounds, LEAST)
    assert RoutingDomain(data=data(enough), rounds=rounds).tasks("valid")
    with pytest.raises(DataError, match="no row may be in two") as caught:
        RoutingDomain(data=data(enough - 1), rounds=rounds)
    assert f"it takes {enough} rows" in caught.value.hint


async def test_intervals_over_rows_hold_the_truth_as_often_as_they_say(
    data: Callable[..., str],
) -> None:
    """Every arm succeeds with half of all tasks, so that whatever is set is worth a half."""
    files = missed = 0
    for seed in range(80):
        domain = RoutingDomain(
            data=data(needed(4, LEAST), seed), rounds=4, cost_weight=0.0, latency_weight=0.0
        )
        low, high = t_interval(await _rewards(domain, "valid"))
        files, missed = files + 1, missed + (not low <= 0.5 <= high)
    assert binomial_tail(missed, files, 0.05) > 0.001


def test_it_says_what_its_streams_are(data: Callable[..., str]) -> None:
    assert "change places" in RoutingDomain().describe()
    own = RoutingDomain(data=data(800), rounds=8, cost_weight=0.3)
    assert "change places" not in own.describe() and "0.3 × cost" in own.describe()
    assert f"{len(own.tasks('valid'))} in valid" in own.describe()
    assert own.version != RoutingDomain(data=data(800, 1), rounds=8, cost_weight=0.3).version


def test_a_routers_own_log_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="own log"):
        RoutingDomain(data="scope:local/project/shop")
    path = tmp_path / "log.jsonl"
    told = {"task": "x", "odds": {"a": 0.5, "b": 0.5}, "arm": "a", "success": 1}
    path.write_text(json.dumps(told))
    with pytest.raises(DataError, match="what came of one arm alone"):
        RoutingDomain(data=str(path))


def test_settings_that_make_no_sense_are_refused() -> None:
    for wrong in (
        {"rounds": 1},
        {"effect": 2.0},
        {"cost_weight": -1.0},
        {"latency_weight": float("nan")},
        {"data": "/nowhere.jsonl"},
        {"valid": 0},
        {"scope": "shop"},
    ):
        with pytest.raises(UsageError):
            RoutingDomain(**wrong)
