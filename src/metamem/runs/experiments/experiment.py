"""One experiment from its plan to its record: asked in its turn, told beforehand, kept whatever comes."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace

from metamem.core.aside import aside
from metamem.core.errors import UsageError
from metamem.core.ids import content_id, short
from metamem.runs.experiments import gain, growth, search
from metamem.runs.experiments.hypotheses import HYPOTHESES, Hypothesis, hypothesis
from metamem.runs.experiments.lab import Lab
from metamem.runs.experiments.outcome import Forecast, Outcome, Refusal
from metamem.runs.experiments.power import Power
from metamem.runs.experiments.records import Experiment, Json, Plan, answers, experiments, standing
from metamem.store.records import RunState


@dataclass(frozen=True, slots=True)
class Measure:
    forecast: Callable[[Lab, Hypothesis], Forecast]
    play: Callable[[Lab, Hypothesis, Power], Awaitable[Outcome]]
    terms: tuple[str, ...]  # those of `Terms` that it heeds, beyond what all do


MEASURES: Mapping[str, Measure] = {
    "gain": Measure(gain.forecast, gain.play, ("pilot",)),
    "growth": Measure(growth.forecast, growth.play, ()),
    "search": Measure(search.forecast, search.play, ("budget", "searched", "proposer", "hints")),
}
HEEDED = ("spread", "effect")  # by all


async def experiment(lab: Lab, name: str, *, only_plan: bool = False) -> Experiment:
    """Play one, or go on with it; the same again is what came of it the first time.

    With `only_plan` it is told what would be played and what that could show, and nothing is kept.
    """
    asked = hypothesis(name)
    measure = MEASURES[asked.measure]
    if lab.domain.kind != "code":
        raise UsageError(f"{lab.domain.name} learns parameters: there is no memory in it to test")
    plan = await _plan(lab, asked, measure)
    known = await aside(experiments, lab.archive)
    stand = {h: standing(known, h, plan.under) for h in HYPOTHESES}
    lab.answers = {h: answer for h, answer in stand.items() if answer is not None}
    lab.planning = only_plan
    lab.run_id = f"{lab.domain.name}-{name}-{short(content_id(asdict(plan)))}"
    locked = _locked(asked, stand, known, plan.under)
    insisted = locked if lab.terms.override else ""
    if insisted:  # another experiment than the one that needed no insisting
        plan = replace(plan, terms={**plan.terms, "override": True})
    begun = Experiment(plan.id, plan, "under way", overridden=insisted)
    warnings = _asked_before(known, begun)
    try:
        if locked and not insisted and not only_plan:
            raise Refusal(locked)
        forecast = measure.forecast(lab, asked)
    except Refusal as refused:
        return await _refused(lab, begun, str(refused))
    lab.tell(f"{name}: {asked.asks}")
    lab.tell(f"To be played: {forecast.plays}.")
    lab.tell(forecast.power.told(lab.scale))
    for warning in warnings:
        lab.tell(f"Before you ask: {warning}.")
    begun = replace(begun, power=(forecast.power,))
    if only_plan:
        begun = replace(begun, state="planned", warnings=warnings)
        return begun if insisted or not locked else await _refused(lab, begun, locked)
    with ExitStack() as held:
        await aside(held.enter_context, lab.archive.lock_run(plan.id))
        done = next((e for e in known if e.id == plan.id and e.state != "under way"), None)
        if done is not None:
            return done
        await _keep(lab, begun, "running")
        outcome = await measure.play(lab, asked, forecast.power)
        ended = replace(
            begun,
            state="passed" if outcome.passed else "not passed",
            reason=outcome.reason,
            power=outcome.power,
            result={**outcome.result, "reward_range": list(lab.domain.reward_range)},
            warnings=(*outcome.warnings, *warnings),
        )
        await _keep(lab, ended, "finished")
    return await aside(_kept, lab, plan.id)


async def _plan(lab: Lab, asked: Hypothesis, measure: Measure) -> Plan:
    told = asdict(lab.terms)
    terms: dict[str, object] = {name: told[name] for name in (*HEEDED, *measure.terms)}
    terms["designs"] = {name: design.id for name, design in lab.named.items()}
    terms["tasks"] = lab.config.rules.tasks
    return Plan(
        domain=lab.domain.name,
        settings=dict(lab.config.domain.settings),
        hypothesis=asked.name,
        asks=asked.asks,
        conditions=await lab.conditions(),
        terms=terms,
    )


def _locked(
    asked: Hypothesis,
    stand: Mapping[str, Experiment | None],
    known: Sequence[Experiment],
    under: str,
) -> str:
    """Why this may not be asked yet; empty where it may."""
    if not asked.after:
        return ""
    before = stand[asked.after]
    if before is None:
        return f"{asked.name} waits for {asked.after}, which was not tested under these conditions"
    if not before.passed:
        later = any(each.passed for each in answers(known, asked.after, under))
        first = " when it was asked first, and that is what counts" if later else ""
        return f"{asked.name} waits for {asked.after}, which has not passed{first}: {before.reason}"
    return ""


def _asked_before(known: Sequence[Experiment], asked: Experiment) -> tuple[str, ...]:
    """Told before anybody asks again, and kept with what comes of it."""
    plan = asked.plan
    earlier = [e for e in answers(known, plan.hypothesis, plan.under) if e.id != asked.id]
    if not earlier:
        return ()
    times = "once" if len(earlier) == 1 else f"{len(earlier)} times"
    return (
        f"{plan.hypothesis} was answered {times} before under the same conditions, first by"
        f" {earlier[0].id}: {earlier[0].state}. Its level holds for one answer, so the first one counts;"
        " another is kept beside it, and opens nothing",
    )


async def _refused(lab: Lab, asked: Experiment, reason: str) -> Experiment:
    plan = replace(asked.plan, refused=True)
    ended = replace(asked, id=plan.id, plan=plan, state="refused", reason=reason)
    if lab.planning:
        return ended
    await _keep(lab, ended, "finished")
    return await aside(_kept, lab, ended.id)


async def _keep(lab: Lab, found: Experiment, state: RunState) -> None:
    config: Json = {"experiment": asdict(found.plan)}
    await aside(lab.archive.create_run, found.id, config)
    await aside(lab.archive.set_run_state, found.id, state, found.kept)


def _kept(lab: Lab, identifier: str) -> Experiment:
    return Experiment.of(lab.archive.run(identifier))
