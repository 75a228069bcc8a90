"""Routing as a domain of parameters: the suite, a planted rate, arms that are all alike, rows of one's own."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

import metamem
from metamem.core.errors import DataError, UsageError
from metamem.core.protocols import Trial
from metamem.domains.conformance import ParamsConformance
from metamem.domains.routing import PARTS, RoutingDomain, part, read_rows
from metamem.evaluation.jobs import Spec
from metamem.routing import Settings
from metamem.routing.settings import SPACE

INLINE = Spec("inline")


class TestRouting(ParamsConformance):
    def make(self) -> RoutingDomain:
        return RoutingDomain(rounds=8)


def test_the_space_has_every_setting_with_its_default() -> None:
    assert SPACE.defaults() == asdict(Settings())


async def _mean(domain: RoutingDomain, tasks: int, **values: float) -> float:
    settings = {**domain.space.defaults(), **values}
    scored = [await domain.score(settings, t, Trial(1)) for t in domain.tasks("valid")[:tasks]]
    return sum(each.reward for each in scored) / tasks


async def test_the_right_weight_of_cost_is_worth_something() -> None:
    """Where a unit of cost is worth a whole success, a router that thinks nothing of cost loses."""
    domain = RoutingDomain(rounds=60, cost_worth=1.0)
    right, wrong = (
        await _mean(domain, 12, cost_weight=1.0),
        await _mean(domain, 12, cost_weight=0.001),
    )
    assert right > wrong + 0.1


async def test_a_stream_is_the_same_for_every_setting_and_order() -> None:
    domain = RoutingDomain(rounds=20)
    tasks = domain.tasks("test")[:3]
    values = domain.space.defaults()
    forth = [await domain.score(values, task, Trial(5)) for task in tasks]
    back = [await domain.score(values, task, Trial(5)) for task in reversed(tasks)]
    assert forth == back[::-1]


async def test_arms_that_are_all_alike_leave_nothing_to_learn() -> None:
    domain = RoutingDomain(rounds=30, effect=0.0)
    one = await _mean(domain, 6)
    assert one == pytest.approx(await _mean(domain, 6, boldness=3.0, floor=0.5, cost_weight=5.0))


@pytest.mark.slow
def test_a_planted_rate_is_learned_and_passes_the_gate(tmp_path: Path) -> None:
    """The one loop, as for every other domain: the default weights are wrong for these rates."""
    result = metamem.learn(
        "routing",
        home=tmp_path,
        executor=INLINE,
        designs=12,
        proposer=Spec("sample"),
        domain_settings={"rounds": 20, "cost_worth": 2.0},
        confirm=3,
        confirm_seeds=1,
        final_repeats=1,
        control=False,
        explain=False,
    )
    assert result.promoted, result.summary.decision
    assert result.learned is not None
    values = SPACE.read(result.learned)  # what is dear is slow here, so that either weight will do
    usual = Settings()
    assert (
        values["cost_weight"] > 2 * usual.cost_weight
        or values["latency_weight"] > 2 * usual.latency_weight
    )


def _rows(count: int, arms: tuple[str, ...] = ("a", "b")) -> str:
    rows = [
        {
            "task": f"task {n}",
            "outcomes": {arm: {"success": (n + k) % 2} for k, arm in enumerate(arms)},
        }
        for n in range(count)
    ]
    return "\n".join(map(json.dumps, rows))


async def test_rows_of_ones_own_are_dealt_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(_rows(50))
    rows = read_rows(path)
    parts = {split: part(rows, split) for split in PARTS}
    assert [row for split in PARTS for row in parts[split]] == rows
    assert len(parts["train"]) == 20
    domain = RoutingDomain(data=str(path), rounds=10)
    scored = await domain.score(domain.space.defaults(), domain.tasks("train")[0], Trial(0))
    assert 0 <= scored.reward <= 1
    assert domain.version != RoutingDomain(rounds=10).version


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has 0 rows"),
        (_rows(4), "has 4 rows"),
        (_rows(20, ("a",)), "one arm only"),
        (
            _rows(20) + '\n{"task": "x", "outcomes": {"a": {"success": 1}, "c": {"success": 1}}}',
            "other",
        ),
        ('{"task": "x", "outcomes": {"a": {"success": NaN}, "b": {"success": 1}}}', "finite"),
        ('{"task": "x", "outcomes": {"a": {"luck": 1}, "b": {"success": 1}}}', "line 1"),
        ("nonsense", "line 1"),
    ],
)
def test_rows_that_cannot_be_used_are_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match=words):
        RoutingDomain(data=str(path))


def test_settings_that_make_no_sense_are_refused() -> None:
    for wrong in ({"rounds": 1}, {"effect": 2.0}, {"cost_worth": -1.0}, {"data": "/nowhere.jsonl"}):
        with pytest.raises(UsageError):
            RoutingDomain(**wrong)
