"""The table a run ends with: every design on the same unseen tasks, the learned one against each."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import fmean
from typing import Any

from metamem.core.stored import restored
from metamem.core.types import Evaluation
from metamem.evaluation.statistics import (
    Comparison,
    HolmComparison,
    holm_corrected,
    paired_comparison,
    t_interval,
)

LEARNED = "learned"
ANSWERS = ("oracle", "planner")  # rows of the domain's own answers: nobody competes with them
NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class TableRow:
    """How a design did on a split."""

    name: str
    design: str
    evaluation: str
    human: bool
    tasks: int
    mean: float
    low: float  # of the mean's 95 % interval, as far as rewards can lie
    high: float
    tokens: float  # of an advice; like the next two on average over cases
    seconds: float
    retrieve_ms: float
    failures: int
    comparison: HolmComparison | None = None  # of the learned design with this one
    costs: Mapping[str, float] = field(default_factory=dict)  # as the domain counts them, likewise
    lacks: str = ""  # what the learned design was played without; empty: this is no such row

    def to_json(self) -> dict[str, Any]:
        data = asdict(self)
        for name in ("comparison", "costs", "lacks"):
            if not data[name]:
                del data[name]
        return data

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "TableRow":
        compared = data.get("comparison")
        comparison = HolmComparison.from_json(compared) if compared else None
        return restored(TableRow, data, comparison=comparison)


def table(
    evaluations: Mapping[str, Evaluation],
    humans: Sequence[str],
    reward_range: tuple[float, float] = (0.0, 1.0),
    deprived: Mapping[str, str] = NOTHING,
) -> list[TableRow]:
    """One row a design. Gains are the learned design's over that row, p-values Holm-corrected.

    `deprived` are the rows of the learned design without something, which says what that is. Whether
    it beats the others and what it lives by are two questions: each is corrected for itself.
    """
    learned = evaluations.get(LEARNED)
    rivals: dict[str, Comparison] = {}
    itself: dict[str, Comparison] = {}
    for name, evaluation in evaluations.items():
        if learned is not None and name not in (LEARNED, *ANSWERS):
            family = itself if name in deprived else rivals
            family[name] = paired_comparison(learned.by_task(), evaluation.by_task())
    compared = holm_corrected(rivals) | holm_corrected(itself)
    return [
        replace(
            _row(name, evaluation, name in humans, compared.get(name), reward_range),
            lacks=deprived.get(name, ""),
        )
        for name, evaluation in evaluations.items()
    ]


def _row(
    name: str,
    evaluation: Evaluation,
    human: bool,
    comparison: HolmComparison | None,
    reward_range: tuple[float, float],
) -> TableRow:
    rewards = list(evaluation.by_task().values())
    low, high = t_interval(rewards, 0.95)
    least, most = reward_range
    return TableRow(
        name=name,
        design=evaluation.design,
        evaluation=evaluation.id,
        human=human,
        tasks=len(rewards),
        mean=evaluation.reward,
        low=max(least, low),
        high=min(most, high),
        tokens=fmean(r.advice_tokens for r in evaluation.rows),
        seconds=fmean(r.measured.seconds for r in evaluation.rows),
        retrieve_ms=fmean(r.measured.retrieve_ms for r in evaluation.rows),
        failures=sum(bool(r.failure) for r in evaluation.rows),
        comparison=comparison,
        costs=_mean_costs(evaluation),
    )


def _mean_costs(evaluation: Evaluation) -> dict[str, float]:
    """Over the cases that tell them: one that failed may have no costs."""
    told: dict[str, list[float]] = {}
    for row in evaluation.rows:
        for name, cost in row.costs.items():
            told.setdefault(name, []).append(cost)
    return {name: fmean(costs) for name, costs in told.items()}


def advised(rows: Sequence[TableRow]) -> bool:
    """Whether any of these was asked for advice: where nothing was, there is none to measure."""
    return any(row.tokens or row.retrieve_ms for row in rows)


def largest_costs(rows: Sequence[TableRow]) -> dict[str, float]:
    """All that the domain counts, and the largest figure of each: how finely it is shown."""
    names = dict.fromkeys(name for row in rows for name in row.costs)
    return {name: max(abs(row.costs.get(name, 0.0)) for row in rows) for name in names}


def best_human(rows: Sequence[TableRow]) -> tuple[TableRow, HolmComparison] | None:
    """The strongest human design on this very split, and how the learned one does against it."""
    humans = [(row, row.comparison) for row in rows if row.human and row.comparison is not None]
    return max(humans, key=lambda pair: pair[0].mean, default=None)
