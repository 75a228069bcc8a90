"""What came of advice: each case beside the same case played without memory.

All designs share tasks, seeds and collected episodes, so the evaluation of no memory is the replay
of every case with the advice taken away. Whatever an agent takes from its advice (an action, a
place, half a plan) shows in what it then does otherwise; an agent that draws at random, such as a
model with some temperature, does some of that by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from metamem.core.types import CaseResult, Evaluation

WHOLE = 1.0  # a reward that leaves nothing to gain


@dataclass(frozen=True, slots=True)
class Uptake:
    """Shares of the cases in which memory had something to say."""

    cases: int  # how many those are, where it is known what the agent did
    ignored: float = 0.0  # the agent did just what it does without advice
    helped: float = 0.0  # more reward than without advice
    hurt: float = 0.0  # less
    vain: float = 0.0  # the agent did something else, was not rewarded for it, and could have been

    @property
    def taken_up(self) -> float:
        return 1.0 - self.ignored


NOTHING = Uptake(0)


def uptake(evaluation: Evaluation, without: Evaluation) -> Uptake:
    """Of those cases that both were played in."""
    bare = {row.case: row for row in without.rows if row.actions_digest}
    pairs = [
        (row, bare[row.case])
        for row in evaluation.rows
        if row.advice_digest and row.actions_digest and row.case in bare
    ]
    if not pairs:
        return NOTHING
    same = [_same(pair) for pair in pairs]
    gains = [told.reward - untold.reward for told, untold in pairs]
    vain = [
        not alike and gain == 0 and told.reward < WHOLE
        for (told, _), alike, gain in zip(pairs, same, gains, strict=True)
    ]
    return Uptake(
        cases=len(pairs),
        ignored=_share(same),
        helped=_share([gain > 0 for gain in gains]),
        hurt=_share([gain < 0 for gain in gains]),
        vain=_share(vain),
    )


def _same(pair: tuple[CaseResult, CaseResult]) -> bool:
    told, untold = pair
    return told.actions_digest == untold.actions_digest


def _share(those: Sequence[bool]) -> float:
    return sum(those) / len(those)
