"""Does memory gather what helps? The gain over none, along each group's tasks in the order of time.

Each group has a memory of its own, which begins with nothing and learns from one task before the next.
What is asked is whether later tasks gain more than earlier ones. What a memory brings along helps at
the first task as at the last: it does not rise. The group is the unit: what comes one after another in it is
alike, and one group may rise where another falls.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from statistics import fmean
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.figures import chance
from metamem.core.types import Design, Evaluation
from metamem.evaluation.rules import Rules
from metamem.evaluation.statistics import Trend, trend
from metamem.evaluation.statistics.trend import FEWEST, STREAMS
from metamem.runs.experiments.hypotheses import Hypothesis
from metamem.runs.experiments.lab import Lab
from metamem.runs.experiments.outcome import (
    Candidate,
    Forecast,
    Outcome,
    Refusal,
    parted,
    silent,
    too_few,
)
from metamem.runs.experiments.power import Power, power_of_growth
from metamem.runs.experiments.terms import LEVEL

Streams = Mapping[str, Sequence[float]]  # what was gained on each group's tasks, in their order


def forecast(lab: Lab, hypothesis: Hypothesis) -> Forecast:
    lengths, compared = _lengths(lab, hypothesis), _compared(lab)
    tasks = sum(lengths.values())
    too_few(tasks, lab.gate.rule.fewest_tasks)
    spread, known_from = lab.spread()
    power = power_of_growth(
        list(lengths.values()),
        LEVEL / compared,
        spread,
        known_from,
        lab.terms.effect * lab.span,
    )
    plays = (
        f"{compared + 1} designs on {tasks} tasks of {hypothesis.split} in {len(lengths)} groups, in"
        f" the order of time: {(compared + 1) * tasks * lab.config.rules.repeats} cases"
    )
    return Forecast(plays, power)


async def play(lab: Lab, hypothesis: Hypothesis, planned: Power) -> Outcome:
    named, nothing = _candidates(lab), lab.nothing
    designs = [nothing, *named.values()]
    found = await lab.play(
        designs, hypothesis.split, _rules(lab), "in the order of time", lab.streams
    )
    order = lab.order(hypothesis.split, _rules(lab), lab.streams)
    level = LEVEL / len(named)
    candidates, words = [], []
    for candidate in Candidate.of(named):
        gains = _gains(order, found[candidate.design], found[nothing.id])
        seen = trend(gains, level, seed=lab.config.seed)
        passed = seen.lower_bound > 0.0 and seen.p <= level
        words.append(_told(lab, candidate.name, gains, seen))
        candidates.append(
            {
                **asdict(candidate),
                "passed": passed,
                "mean": found[candidate.design].reward,
                "rise": seen.rise,
                "trend": asdict(seen),
                "curve": _curve(gains),
            }
        )
    return Outcome(
        passed=any(each["passed"] for each in candidates),
        reason=parted(words),
        result={
            "candidates": candidates,
            "none": found[nothing.id].reward,
            "tasks": planned.tasks,
            "streams": {group: len(tasks) for group, tasks in order.items()},
        },
        power=(planned,),
        warnings=silent({n: d.id for n, d in named.items()}, found),
    )


def _rules(lab: Lab) -> Rules:
    return replace(lab.config.rules, rollout="streaming", collect=0)


def _lengths(lab: Lab, hypothesis: Hypothesis) -> dict[str, int]:
    if not lab.streams:
        raise UsageError(
            f"the tasks of {lab.domain.name} come in no order of time",
            hint="a domain whose tasks do says so as `streams`: docs/experiments.md",
        )
    order = lab.order(hypothesis.split, _rules(lab), lab.streams)
    lengths = {group: len(tasks) for group, tasks in order.items()}
    if "" in lengths or min(lengths.values()) < FEWEST:
        raise Refusal(
            f"every group needs {FEWEST} tasks of {hypothesis.split} at least, for them to lie on a line"
        )
    if len(lengths) < STREAMS:
        raise Refusal(f"one group tells nothing of others: it takes {STREAMS} at least")
    return lengths


def _compared(lab: Lab) -> int:
    """How many memories it will be about; in a plan that comes too early, as many as may be."""
    if lab.planning and not _known(lab):
        return 1 + len(lab.learned())
    return len(_candidates(lab))


def _known(lab: Lab) -> dict[str, Design]:
    """Whoever was asked for; else those that were found to help."""
    helped = [each for each in lab.seen_to_gain() if each["passed"]]
    return dict(lab.named) or {each["name"]: lab.design(each) for each in helped}


def _candidates(lab: Lab) -> dict[str, Design]:
    named = _known(lab)
    if not named:
        raise UsageError(
            "nobody is known to help here, so there is no memory to look at",
            hint="name one with --design",
        )
    return named


def _gains(
    order: Mapping[str, Sequence[str]], ours: Evaluation, none: Evaluation
) -> dict[str, list[float]]:
    won, without = ours.by_task(), none.by_task()
    return {group: [won[t] - without[t] for t in tasks] for group, tasks in order.items()}


def _curve(gains: Streams) -> list[dict[str, Any]]:
    """The mean gain at each place, over the streams that are so long."""
    longest = max(map(len, gains.values()))
    at = [[values[n] for values in gains.values() if n < len(values)] for n in range(longest)]
    return [{"place": n, "gain": fmean(each), "streams": len(each)} for n, each in enumerate(at)]


def _told(lab: Lab, name: str, gains: Streams, found: Trend) -> str:
    scale = lab.scale
    return (
        f"{name} gains {scale.gain(fmean(v for each in gains.values() for v in each))}"
        f"{scale.unit_of_gains} on average; from the first task to the last that rises by"
        f" {scale.gain(found.rise)} ({scale.gain_span(found.low, found.high)};"
        f" at least {scale.gain(found.lower_bound)}, p {chance(found.p)})"
    )
