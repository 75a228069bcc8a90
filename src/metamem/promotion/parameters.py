"""Parameters change themselves, inside bounds that a person approved, and back where that hurts."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.ids import content_id
from metamem.promotion.evidence import PairedGain, Rewards, Rival
from metamem.promotion.ledger import BOUNDS, GATE, Ledger
from metamem.promotion.standing import standing
from metamem.store.records import Place, PromotionRecord, Subject

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Bounds:
    """From where to where each parameter may go, ends included. Others may not change."""

    ranges: Mapping[str, tuple[float, float]]

    def __post_init__(self) -> None:
        for name, (low, high) in self.ranges.items():
            if not low <= high:
                raise UsageError(f"the bounds of {name!r} are no range: {low} to {high}")

    def hold(self, values: Values) -> bool:
        return all(
            name in self.ranges
            and isinstance(value, int | float)
            and not isinstance(value, bool)
            and self.ranges[name][0] <= value <= self.ranges[name][1]
            for name, value in values.items()
        )

    def to_json(self) -> dict[str, list[float]]:
        return {name: list(ends) for name, ends in self.ranges.items()}

    @property
    def subject(self) -> Subject:
        """Bounds are a policy: a person approves them like any other."""
        return Subject("policy", content_id("bounds", self.to_json()), BOUNDS)


def propose_bounds(ledger: Ledger, bounds: Bounds, place: Place, *, by: str) -> PromotionRecord:
    """Ask a person to approve bounds; the newest that were approved hold."""
    return ledger.promote(
        bounds.subject,
        place,
        by=by,
        reason="bounds inside which parameters may change themselves",
        evidence={"bounds": bounds.to_json()},
        risk="policy",
    )


def approved_bounds(ledger: Ledger, place: Place) -> Bounds | None:
    history = ledger.history(Subject("policy", "", BOUNDS), place)
    now = standing(history).in_use
    if now is None:
        return None
    said = next(e for e in history if e.subject == now.subject and e.decision == "promoted")
    return Bounds({name: (low, high) for name, (low, high) in said.evidence["bounds"].items()})


def change(
    ledger: Ledger,
    values: Values,
    place: Place,
    *,
    name: str = "",
    reason: str,
    evidence: Mapping[str, Any],
    by: str = GATE,
    run_id: str | None = None,
) -> PromotionRecord:
    """Promote a set of parameters: in use at once inside the approved bounds, else it waits."""
    bounds = approved_bounds(ledger, place)
    inside = bounds is not None and bounds.hold(values)
    told = {"values": dict(values), "bounds": bounds.subject.id if bounds and inside else None}
    return ledger.promote(
        Subject("parameters", content_id("parameters", dict(values)), name),
        place,
        by=by,
        reason=reason,
        evidence={**evidence, **told},
        risk="parameters",
        inside_bounds=inside,
        run_id=run_id,
    )


def revert_if_worse(
    ledger: Ledger,
    subject: Subject,
    place: Place,
    *,
    before: Rewards,
    now: Rewards,
    level: float = 0.01,
    seed: int = 0,
) -> PromotionRecord | None:
    """Undo a change that applied itself, where it is proven that it was better before."""
    found = PairedGain().judge(before, Rival("", 0.0, now), level=level, seed=seed)
    if not found.passed:
        return None
    return ledger.undo(
        subject,
        place,
        by=BOUNDS,
        reason=f"it was better before by {found.gain:.3f}, at least {found.lower_bound:.3f}",
        evidence=asdict(found),
    )
