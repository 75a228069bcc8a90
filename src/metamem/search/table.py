"""The table a run ends with: every design on the same unseen tasks, the learned one against each."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from metamem.core.types import Evaluation
from metamem.evaluation.statistics import holm, paired_comparison, t_interval

LEARNED = "learned"


def table(evaluations: Mapping[str, Evaluation], humans: Sequence[str]) -> list[dict[str, Any]]:
    """One row a design. Gains are the learned design's over that row, p-values Holm-corrected."""
    rows = []
    learned = evaluations.get(LEARNED)
    rivals = [n for n in evaluations if learned is not None and n not in (LEARNED, "oracle")]
    compared = {
        name: paired_comparison(learned.by_task(), evaluations[name].by_task())
        for name in rivals
        if learned is not None
    }
    corrected = dict(zip(rivals, holm([compared[n].p_permutation for n in rivals]), strict=True))
    for name, evaluation in evaluations.items():
        rewards = list(evaluation.by_task().values())
        low, high = t_interval(rewards, 0.95)
        row: dict[str, Any] = {
            "name": name,
            "design": evaluation.design,
            "evaluation": evaluation.id,
            "human": name in humans,
            "tasks": len(rewards),
            "mean": evaluation.reward,
            "low": max(0.0, low),
            "high": min(1.0, high),
            "tokens": fmean(r.advice_tokens for r in evaluation.rows),
            "seconds": fmean(r.measured.seconds for r in evaluation.rows),
            "retrieve_ms": fmean(r.measured.retrieve_ms for r in evaluation.rows),
            "failures": sum(bool(r.failure) for r in evaluation.rows),
        }
        if name in compared:
            row["comparison"] = compared[name].to_json() | {"p_holm": corrected[name]}
        rows.append(row)
    return rows
