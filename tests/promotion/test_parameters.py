"""Parameters apply themselves inside approved bounds alone, and revert where that hurts alone."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from metamem.core.errors import UsageError
from metamem.promotion import Bounds, Ledger
from metamem.promotion.parameters import (
    approved_bounds,
    change,
    propose_bounds,
    revert_if_worse,
)
from metamem.store import Place, PromotionRecord, open_archive

HERE, ELSEWHERE = Place("scope", "acme/team/shop"), Place("scope", "acme/team/other")
BOUNDS = Bounds({"decay": (0.1, 0.5), "top": (3, 10)})


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_archive(tmp_path / "archive.db") as archive:
        yield Ledger(archive)


def approved(ledger: Ledger, bounds: Bounds = BOUNDS) -> None:
    propose_bounds(ledger, bounds, HERE, by="service")
    ledger.approve(bounds.subject, HERE, by="Ada")


def changed(ledger: Ledger, values: dict[str, object], place: Place = HERE) -> PromotionRecord:
    return change(ledger, values, place, reason="better", evidence={"gain": 0.1})


def test_bounds_hold_what_lies_inside_them() -> None:
    assert BOUNDS.hold({"decay": 0.1, "top": 10}, {}) and BOUNDS.hold({}, {})
    for values in (
        {"decay": 0.09},
        {"decay": 0.51},
        {"other": 1},
        {"decay": 0.2, "other": 1},
        {"top": True},
        {"top": "5"},
        {"decay": float("nan")},
    ):
        assert not BOUNDS.hold(values, {})
    now = {"decay": 0.9, "other": "plain", "on": True}
    assert BOUNDS.hold({"decay": 0.2, "other": "plain"}, now)  # what stays may lie anywhere
    assert not BOUNDS.hold({"decay": 0.2, "other": "bold"}, now)
    assert not BOUNDS.hold({"on": 1}, now)
    with pytest.raises(UsageError):
        Bounds({"a": (2, 1)})


def test_bounds_may_be_values_to_choose_from() -> None:
    bounds = Bounds({"decay": (0.1, 0.5)}, {"mode": ("fast", "good"), "on": (True,), "n": (1, 2)})
    assert bounds.hold({"decay": 0.2, "mode": "good", "on": True, "n": 2}, {})
    for values in ({"mode": "slow"}, {"on": 1}, {"on": False}, {"n": 1.0}, {"n": True}):
        assert not bounds.hold(values, {})
    assert Bounds.from_json(json.loads(json.dumps(bounds.to_json()))) == bounds
    assert BOUNDS.to_json() == {"decay": [0.1, 0.5], "top": [3, 10]}  # as archives have it
    for choices in ({"mode": ()}, {"decay": (1,)}):
        with pytest.raises(UsageError, match="needs a range, or some values"):
            Bounds({"decay": (0.1, 0.5)}, choices)


def test_approved_choices_hold(ledger: Ledger) -> None:
    bounds = Bounds(choices={"mode": ("fast", "good")})
    approved(ledger, bounds)
    assert approved_bounds(ledger, HERE) == bounds
    assert not changed(ledger, {"mode": "good"}).waits
    assert changed(ledger, {"mode": "slow"}).waits


def test_the_first_change_is_one_of_the_defaults(ledger: Ledger) -> None:
    approved(ledger)
    defaults = {"decay": 0.9, "mode": "good"}
    about = {"reason": "", "evidence": {}, "defaults": defaults}
    assert change(ledger, {"decay": 0.2, "mode": "fast"}, HERE, **about).waits
    assert not change(ledger, {"decay": 0.2, "mode": "good"}, HERE, **about).waits
    defaults["mode"] = "fast"  # what is in use counts from now on
    assert change(ledger, {"decay": 0.3, "mode": "fast"}, HERE, **about).waits
    assert not change(ledger, {"decay": 0.3, "mode": "good"}, HERE, **about).waits


def test_without_approved_bounds_every_change_waits(ledger: Ledger) -> None:
    assert changed(ledger, {"decay": 0.2}).waits
    propose_bounds(ledger, BOUNDS, HERE, by="service")
    assert approved_bounds(ledger, HERE) is None
    assert changed(ledger, {"decay": 0.3}).waits
    assert ledger.in_use() == []


def test_inside_the_bounds_a_change_applies_itself(ledger: Ledger) -> None:
    approved(ledger)
    assert approved_bounds(ledger, HERE) == BOUNDS
    first = changed(ledger, {"decay": 0.2})
    assert not first.waits and first.evidence["bounds"] == BOUNDS.subject.id
    assert ledger.standing(first.subject, HERE).in_use == first
    outside = changed(ledger, {"decay": 0.9})
    assert outside.waits and outside.evidence["bounds"] is None
    assert changed(ledger, {"decay": 0.2}, ELSEWHERE).waits
    assert ledger.standing(first.subject, HERE).in_use == first
    ledger.undo(BOUNDS.subject, HERE, by="Ada", reason="enough")
    assert changed(ledger, {"decay": 0.3}).waits


def test_a_planted_harm_is_reverted_and_the_former_is_in_use_again(ledger: Ledger) -> None:
    approved(ledger)
    good, bad = changed(ledger, {"decay": 0.2}), changed(ledger, {"decay": 0.4})
    before = {f"task {n}": 1.0 if n < 60 else 0.0 for n in range(80)}
    now = {f"task {n}": 1.0 if n < 30 else 0.0 for n in range(80)}
    entry = revert_if_worse(ledger, bad.subject, HERE, before=before, now=now)
    assert entry is not None and (entry.decision, entry.decided_by) == ("undone", "auto:bounds")
    assert "better before by 0.375" in entry.reason
    assert ledger.standing(good.subject, HERE).in_use == good


def test_a_change_that_makes_no_difference_stays(ledger: Ledger) -> None:
    approved(ledger)
    mine = changed(ledger, {"decay": 0.2})
    generator = np.random.default_rng(5)
    rounds, reverted = 400, 0
    for _ in range(rounds):
        chances = generator.beta(0.8, 1.2, 60)
        before, now = (
            {f"task {n}": float(v) for n, v in enumerate(generator.binomial(1, chances))}
            for _ in range(2)
        )
        if revert_if_worse(ledger, mine.subject, HERE, before=before, now=now) is not None:
            reverted += 1
            changed(ledger, {"decay": 0.2})
    assert reverted <= stats.binom.ppf(0.999, rounds, 0.01)


def test_what_a_person_approved_is_not_reverted(ledger: Ledger) -> None:
    entry = changed(ledger, {"decay": 0.9})
    ledger.approve(entry.subject, HERE, by="Ada")
    before, now = ({f"task {n}": r for n in range(40)} for r in (1.0, 0.0))
    with pytest.raises(UsageError, match="a person put"):
        revert_if_worse(ledger, entry.subject, HERE, before=before, now=now)


def test_a_harm_is_proven_on_the_scale_of_its_rewards(ledger: Ledger) -> None:
    """Many small losses can hide a rare great gain: how great, the range of rewards tells."""
    approved(ledger)
    mine = changed(ledger, {"decay": 0.2})

    def reverted(scale: float) -> bool:
        before = {f"task {n}": scale * (0.5 + 0.01 * (n % 4)) for n in range(40)}
        now = dict.fromkeys(before, scale * 0.49)
        found = revert_if_worse(
            ledger, mine.subject, HERE, before=before, now=now, reward_range=(0.0, scale)
        )
        return found is not None

    assert [reverted(scale) for scale in (1.0, 10.0, 0.1)] == [False, False, False]
