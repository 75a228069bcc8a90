"""Rewards as shares of what their domain can give, for whatever is said of them in shares."""

from dataclasses import replace

from metamem.core.types import Evaluation


def in_shares(evaluation: Evaluation, reward_range: tuple[float, float]) -> Evaluation:
    """The same with rewards from 0, the least there is, to 1, which leaves nothing to gain."""
    low, high = reward_range
    if (low, high) == (0.0, 1.0):
        return evaluation
    rows = (replace(row, reward=(row.reward - low) / (high - low)) for row in evaluation.rows)
    return replace(evaluation, rows=tuple(rows))
