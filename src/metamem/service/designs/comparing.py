"""What came of both sides of a live comparison.

The unit is the session, since chance was drawn for it: its outcome is the mean of its moments'. The
interval of the difference is one that holds however often somebody looks (as wide as a normal mixture,
after Robbins): whoever waits for it to leave zero is not fooled by having looked every day. Of outcomes
between 0 and 1 it is Newcombe's, which stays between -1 and 1.
"""

import math
from collections import Counter
from dataclasses import dataclass

from metamem.evaluation.statistics.intervals import t_interval
from metamem.evaluation.statistics.proportions import difference_interval, wilson_interval
from metamem.evaluation.statistics.samples import deviation, mean, numbers
from metamem.service.designs.words import Arm, Comparison, Trial, Verdict
from metamem.store.engine import Execute

FEWEST = 20  # sessions with an outcome, on each side
LEVEL = 0.05
_ERRORS = 1.96  # on each side of one arm's mean: 95 %
_POWER = 0.84  # standard errors beyond the bound: four times out of five
_BEST_AT = 200  # sessions for which the interval is as narrow as it can be made
_TOO_UNLIKE = 0.15  # difference in the share of sessions of which the outcome is known


def comparison(execute: Execute, number: int, scope: str, trial: Trial) -> Comparison:
    """Of the moments of one comparison, as they stand."""
    outcomes: dict[bool, list[float]] = {False: [], True: []}
    asked: Counter[bool] = Counter()
    for held_back, outcome in execute(
        "SELECT held_back, AVG(outcome) FROM moments WHERE scope = ? AND comparison = ?"
        " GROUP BY held_back, CASE WHEN session = '' THEN id ELSE session END",
        (number, trial.id),
    ):
        asked[bool(held_back)] += 1
        if outcome is not None:
            outcomes[bool(held_back)].append(outcome)
    given, held = outcomes[False], outcomes[True]
    arms = (arm(given, asked[False]), arm(held, asked[True]))
    notes = _notes(*arms)
    if not trial.id or min(len(given), len(held)) < FEWEST:
        return Comparison(scope, trial, *arms, notes=notes)
    found = judged(given, held)
    return Comparison(
        scope,
        trial,
        *arms,
        found.difference,
        found.interval,
        found.detectable,
        found.verdict,
        notes,
    )


@dataclass(frozen=True, slots=True)
class Judged:
    """Two sides held against one another."""

    difference: float
    interval: tuple[float, float]
    detectable: float  # what would likely be seen with so many
    verdict: Verdict


def judged(given: list[float], held: list[float], level: float = LEVEL) -> Judged:
    """What outcomes of both sides say, where there are enough of them."""
    difference, half, error = difference_of(given, held, level)
    interval = (difference - half, difference + half)
    least = half + _POWER * error
    if _are_shares(given, held):
        one, other = ((mean(numbers(side)), len(side)) for side in (given, held))
        interval = difference_interval(one, other, _widening(len(given) + len(held), level))
        half = max(difference - interval[0], interval[1] - difference)
        least = min(1.0, half + _POWER * error)
    verdict: Verdict = (
        "better" if interval[0] > 0 else "worse" if interval[1] < 0 else "no difference shown"
    )
    return Judged(difference, interval, least, verdict)


def difference_of(
    given: list[float], held: list[float], level: float = LEVEL
) -> tuple[float, float, float]:
    """How much better one side is, half the width of an interval of any outcomes, and the standard error."""
    error = _standard_error(given, held)
    half = error * _widening(len(given) + len(held), level)
    return mean(numbers(given)) - mean(numbers(held)), half, error


def arm(outcomes: list[float], asked: int) -> Arm:
    """One side: what came of those whose outcome is known."""
    if not outcomes:
        return Arm(0, asked)
    middle, n = mean(numbers(outcomes)), len(outcomes)
    interval = None
    if n > 1:
        shares = _are_shares(outcomes)
        interval = wilson_interval(middle, n, _ERRORS) if shares else t_interval(outcomes)
    return Arm(n, asked, middle, interval)


def _are_shares(*sides: list[float]) -> bool:
    return all(0.0 <= outcome <= 1.0 for side in sides for outcome in side)


def _standard_error(given: list[float], held: list[float]) -> float:
    """Each side with its extremes once more: few sessions that ended alike are no certainty."""
    low, high = min(*given, *held), max(*given, *held)
    low, high = min(low, 0.0), max(high, 1.0)
    spread = sum(deviation(numbers([*side, low, high])) ** 2 / len(side) for side in (given, held))
    return math.sqrt(spread)


def _widening(n: int, level: float) -> float:
    """Standard errors on each side of the difference, so that it holds at every n at once."""
    log = -2 * math.log(level)
    rho = (log + math.log(log) + 1) / _BEST_AT
    return math.sqrt(2 * (n * rho + 1) / (n * rho) * math.log(math.sqrt(n * rho + 1) / level))


def _notes(given: Arm, held: Arm) -> tuple[str, ...]:
    notes = []
    if (given.asked or held.asked) and not (given.sessions or held.sessions):
        notes.append("no outcome came back: name the moment when telling an experience")
    if given.asked and held.asked:
        shares = given.sessions / given.asked, held.sessions / held.asked
        if abs(shares[0] - shares[1]) > _TOO_UNLIKE:
            notes.append(
                f"outcomes are known of {shares[0]:.0%} of the sessions with advice and of"
                f" {shares[1]:.0%} of those held back: the difference may come of that"
            )
    return tuple(notes)
