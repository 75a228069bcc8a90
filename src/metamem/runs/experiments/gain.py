"""Does memory help? The best human memory and the learned design, each against none, by task."""

from collections.abc import Mapping
from dataclasses import asdict, replace

from metamem.core.figures import chance
from metamem.core.types import Design, Evaluation
from metamem.evaluation.rules import Rules
from metamem.evaluation.statistics import paired_comparison, paired_differences
from metamem.evaluation.statistics.samples import deviation, numbers
from metamem.promotion.evidence import Rival
from metamem.promotion.gate import Decision, GateComparison
from metamem.runs.experiments.hypotheses import Hypothesis
from metamem.runs.experiments.lab import Lab
from metamem.runs.experiments.outcome import Candidate, Forecast, Outcome, parted, silent, too_few
from metamem.runs.experiments.power import Power, power_of_gain
from metamem.runs.experiments.terms import LEVEL

PILOT = "valid"


def forecast(lab: Lab, hypothesis: Hypothesis) -> Forecast:
    tasks = lab.count(hypothesis.split, lab.config.rules)
    too_few(tasks, lab.gate.rule.fewest_tasks)
    compared = len(lab.named) or 1 + len(lab.learned())
    tried, first = len(_pool(lab)) + 1, lab.count(PILOT, _pilot(lab))
    spread, effect = lab.terms.spread * lab.span, lab.terms.effect * lab.span
    plays = (
        f"{tried} designs on {first} tasks of {PILOT} to choose by, then {compared + 1} on {tasks} of"
        f" {hypothesis.split}: {(tried * first + (compared + 1) * tasks) * lab.config.rules.repeats}"
        " cases, and those that memory learns from"
    )
    return Forecast(plays, power_of_gain(tasks, LEVEL / compared, spread, "assumed", effect))


async def play(lab: Lab, hypothesis: Hypothesis, planned: Power) -> Outcome:
    nothing, pool = lab.nothing, _pool(lab)
    tried = await lab.play([nothing, *pool.values()], PILOT, _pilot(lab), "choosing")
    means = {name: tried[design.id].reward for name, design in pool.items()}
    named = _chosen(lab, means)
    gains = {n: _gains(tried[d.id], tried[nothing.id]) for n, d in named.items()}
    spread = max(deviation(numbers(each)) for each in gains.values())
    seen = f"by a pilot of {len(next(iter(gains.values())))} tasks"
    power = power_of_gain(planned.tasks, planned.level, spread, seen, planned.effect)
    lab.tell(power.told(lab.scale))

    designs = [nothing, *named.values()]
    found = await lab.play(designs, hypothesis.split, lab.config.rules, "deciding")
    none = found[nothing.id].by_task()
    names = {design.id: name for name, design in named.items()}
    decision = lab.gate.decide(
        {design: found[design].by_task() for design in names},
        {nothing.name or "none": none},
        seed=lab.config.seed,
    )
    candidates = [
        {
            **asdict(candidate),
            "passed": any(c.passed for c in decision.comparisons if c.design == candidate.design),
            "spread": deviation(numbers(_gains(found[candidate.design], found[nothing.id]))),
            "comparison": paired_comparison(found[candidate.design].by_task(), none).to_json(),
        }
        for candidate in Candidate.of(named)
    ]
    words = [
        told(lab, names[c.design], c, decision, found[c.design], found[nothing.id])
        for c in decision.comparisons
    ]
    return Outcome(
        passed=decision.promoted is not None,
        reason=parted(words),
        result={
            "candidates": candidates,
            "none": found[nothing.id].reward,
            "tasks": len(none),
            "pilot": {"none": tried[nothing.id].reward, **means},
            "decision": decision.to_json(),
        },
        power=(planned, power),
        warnings=silent({n: d.id for n, d in named.items()}, found),
    )


def _pilot(lab: Lab) -> Rules:
    whole = lab.count(PILOT, replace(lab.config.rules, tasks=0))
    return replace(lab.config.rules, tasks=min(lab.terms.pilot, whole))


def _pool(lab: Lab) -> dict[str, Design]:
    """Who is tried on the pilot."""
    return dict(lab.named) or {**lab.humans(), **lab.learned()}


def _chosen(lab: Lab, means: Mapping[str, float]) -> dict[str, Design]:
    """Whoever was asked for; else the best human memory of the pilot, and what was learned."""
    if lab.named:
        return dict(lab.named)
    humans = lab.humans()
    best = min(humans, key=lambda name: (-means[name], name))
    return {best: humans[best], **lab.learned()}


def _gains(ours: Evaluation, none: Evaluation) -> list[float]:
    return paired_differences(ours.by_task(), none.by_task())


def told(
    lab: Lab,
    name: str,
    found: GateComparison,
    decision: Decision,
    ours: Evaluation,
    theirs: Evaluation,
) -> str:
    """One comparison in words, and what it would take where it does not do."""
    scale = lab.scale
    words = (
        f"{name} gains {scale.gain(found.gain)}{scale.unit_of_gains}, at least"
        f" {scale.gain(found.lower_bound)}, p {chance(found.p)}"
    )
    if found.passed:
        return words
    rival = Rival(decision.best_human, decision.best_human_mean, theirs.by_task())
    missing = lab.gate.rule.missing(ours.by_task(), rival, found, decision.level_each)
    return f"{words}: {missing}"
