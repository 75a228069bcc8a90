"""Parameters change themselves, inside bounds that a person approved, and back where that hurts."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.ids import canonical_json
from metamem.core.space import Choice
from metamem.promotion.contents import parameters_id, policy_id
from metamem.promotion.evidence import Rewards, Rival, paired_gain
from metamem.promotion.ledger import GATE, MAY_BE_UNDONE, REVERT, Ledger
from metamem.promotion.standing import standing
from metamem.promotion.under import Under
from metamem.store.records import Place, PromotionRecord, Subject

Values = Mapping[str, Any]
BOUNDS = "bounds"  # the name of the policy
_ANY_OF = "any_of"
NOTHING_SAID: Values = {}


@dataclass(frozen=True, slots=True)
class Bounds:
    """From where to where each number may go, ends included, and what else each may be.

    What is not named in them must stay as it is.
    """

    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, (low, high) in self.ranges.items():
            if not low <= high:
                raise UsageError(f"the bounds of {name!r} are no range: {low} to {high}")
        for name, allowed in self.choices.items():
            if not allowed or name in self.ranges:
                raise UsageError(f"{name!r} needs a range, or some values to choose from")

    def hold(self, values: Values, now: Values) -> bool:
        """`now` is what is in use."""
        return all(
            self._inside(name, value)
            or (name in now and canonical_json(now[name]) == canonical_json(value))
            for name, value in values.items()
        )

    def _inside(self, name: str, value: Any) -> bool:
        if name in self.choices:
            return any(Choice.same(allowed, value) for allowed in self.choices[name])
        if name not in self.ranges or not isinstance(value, int | float):
            return False
        low, high = self.ranges[name]
        return not isinstance(value, bool) and low <= value <= high

    def to_json(self) -> dict[str, Any]:
        ranges = {name: list(ends) for name, ends in self.ranges.items()}
        return {
            **ranges,
            **{name: {_ANY_OF: list(any_of)} for name, any_of in self.choices.items()},
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Bounds":
        choices = {name: said for name, said in data.items() if isinstance(said, Mapping)}
        return Bounds(
            {name: (said[0], said[1]) for name, said in data.items() if name not in choices},
            {name: tuple(said[_ANY_OF]) for name, said in choices.items()},
        )

    @property
    def subject(self) -> Subject:
        """Bounds are a policy: a person approves them like any other."""
        return Subject("policy", policy_id(BOUNDS, self.to_json()), BOUNDS)


def propose_bounds(ledger: Ledger, bounds: Bounds, place: Place, *, by: str) -> PromotionRecord:
    """Ask a person to approve bounds; the newest that were approved hold."""
    return ledger.promote(
        bounds.subject,
        place,
        by=by,
        reason="bounds inside which parameters may change themselves",
        evidence={BOUNDS: bounds.to_json()},
    )


def approved_bounds(ledger: Ledger, place: Place) -> Bounds | None:
    history = ledger.history(Subject("policy", "", BOUNDS), place)
    now = standing(history).in_use
    if now is None:
        return None
    return Bounds.from_json(_promotion(history, now.subject).evidence[BOUNDS])


@dataclass(frozen=True, slots=True)
class Applied:
    """A set of parameters that is in use at a place, or would be if what came after it were undone."""

    subject: Subject
    place: Place
    ordinal: int  # of the decision that put it there
    values: Values
    watched: bool  # it applied itself inside approved bounds, or was approved for as long as it does no harm


def applied(ledger: Ledger, place: Place, name: str = "") -> list[Applied]:
    """What is in use at a place, and what each undo would bring back; what is in use now is first."""
    history = ledger.history(Subject("parameters", "", name), place)
    return [
        Applied(
            entry.subject,
            place,
            entry.ordinal,
            dict(_promotion(history, entry.subject).evidence["values"]),
            bool(entry.evidence.get(BOUNDS if entry.decision == "promoted" else MAY_BE_UNDONE)),
        )
        for entry in reversed(standing(history).applied)
    ]


def in_use(ledger: Ledger, place: Place, name: str = "") -> Values | None:
    """The values that are in use at a place; none where nothing was ever put into use."""
    found = applied(ledger, place, name)
    return found[0].values if found else None


def _promotion(history: Sequence[PromotionRecord], subject: Subject) -> PromotionRecord:
    """The promotion of a subject: it has the evidence, whoever approved it later."""
    return next(e for e in history if e.subject == subject and e.decision == "promoted")


def change(
    ledger: Ledger,
    values: Values,
    place: Place,
    *,
    name: str = "",
    reason: str,
    evidence: Mapping[str, Any],
    defaults: Values = NOTHING_SAID,
    by: str = GATE,
    run_id: str | None = None,
) -> PromotionRecord:
    """Promote a set of parameters: in use at once inside the approved bounds, else it waits.

    `defaults` are what counts where nothing was ever put into use. What was learned under settings that
    its domain does not have by itself always waits: nobody approved bounds for those.
    """
    bounds = approved_bounds(ledger, place)
    now = in_use(ledger, place, name)
    inside = (
        bounds is not None
        and bounds.hold(values, defaults if now is None else now)
        and not Under.of(evidence).differs
    )
    told = {"values": dict(values), "bounds": bounds.subject.id if bounds and inside else None}
    return ledger.promote(
        Subject("parameters", parameters_id(values), name),
        place,
        by=by,
        reason=reason,
        evidence={**evidence, **told},
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
    reward_range: tuple[float, float] = (0.0, 1.0),
    level: float = 0.01,
    seed: int = 0,
    told: str = "",
) -> PromotionRecord | None:
    """Undo a change that applied itself, where it is proven that it was better before. `told`: by what,
    in words."""
    rule = paired_gain(reward_range)
    found = rule.judge(before, Rival("", 0.0, now), level=level, seed=seed)
    if not found.passed:
        return None
    return ledger.undo(
        subject,
        place,
        by=REVERT,
        reason=f"it was better before by {found.gain:.3f}, at least {found.lower_bound:.3f}{told}",
        evidence=asdict(found),
    )
