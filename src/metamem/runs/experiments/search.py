"""Does a search find what people did not? A whole learning run, told nothing of the domain, and what it
learned against the best human memory on tasks that neither was chosen by."""

from dataclasses import asdict, replace
from typing import Any

from metamem.core.aside import aside
from metamem.core.errors import UsageError
from metamem.core.types import Design
from metamem.evaluation.statistics import paired_comparison
from metamem.runs.config import LearnConfig
from metamem.runs.experiments.gain import told
from metamem.runs.experiments.hypotheses import Hypothesis
from metamem.runs.experiments.lab import Lab
from metamem.runs.experiments.outcome import Candidate, Forecast, Outcome, silent, too_few
from metamem.runs.experiments.power import Power, power_of_gain
from metamem.runs.experiments.terms import LEVEL
from metamem.runs.learn import learn
from metamem.runs.summary import Summary
from metamem.search.budget import Budget

LEARNED = "what was learned"


def forecast(lab: Lab, hypothesis: Hypothesis) -> Forecast:
    tasks, rivals = lab.count(hypothesis.split, lab.config.rules), _known(lab)
    if not (rivals or lab.planning):
        raise UsageError(
            "which human memory is the best here is not known", hint="name it with --design"
        )
    too_few(tasks, lab.gate.rule.fewest_tasks)
    spread, known_from = lab.spread()
    power = power_of_gain(tasks, LEVEL, spread, known_from, lab.terms.effect * lab.span)
    hints = "told about the domain" if lab.terms.hints else "told nothing of the domain"
    plays = (
        f"a search of {lab.terms.budget} designs, {hints}, on at most {lab.terms.searched} tasks of each"
        f" split, beside a blind one; then what was learned and"
        f" {', '.join(rivals) or 'the best human memory'} on {tasks} tasks of {hypothesis.split}"
    )
    return Forecast(plays, power)


async def play(lab: Lab, hypothesis: Hypothesis, planned: Power) -> Outcome:
    rivals, run_id = _known(lab), lab.run_id
    async with lab.opened(_config(lab), run_id, searches=True) as stage:
        summary = await learn(stage, lab.progress)
        lab.paid(stage)
    searched = {"run": run_id, "hints": lab.terms.hints, **_told_of(summary)}
    warnings = summary.search.warnings if summary.search else ()
    if summary.learned is None:
        reason = "the search brought nothing that runs to its end"
        return Outcome(False, reason, {"search": searched}, (planned,), warnings)
    learned = await aside(lab.archive.design, summary.learned)
    found = await lab.play(
        [learned, *rivals.values()], hypothesis.split, lab.config.rules, "deciding"
    )
    decision = lab.gate.decide(
        {learned.id: found[learned.id].by_task()},
        {name: found[design.id].by_task() for name, design in rivals.items()},
        seed=lab.config.seed,
    )
    rival = found[rivals[decision.best_human].id]
    against = summary.decision.objections.get(learned.id, "") if summary.decision else ""
    compared = paired_comparison(found[learned.id].by_task(), rival.by_task())
    judged = told(lab, LEARNED, decision.comparisons[0], decision, found[learned.id], rival)
    words = f"{judged}, over {decision.best_human}"
    return Outcome(
        passed=decision.promoted is not None and not against,
        reason=f"{words}; {against}" if against else words,
        result={
            "search": searched,
            "candidates": [
                {
                    **asdict(Candidate(LEARNED, learned.id, human=False)),
                    "passed": decision.promoted is not None and not against,
                    "comparison": compared.to_json(),
                }
            ],
            "rival": decision.best_human,
            "tasks": decision.tasks,
            "decision": decision.to_json(),
        },
        power=(planned,),
        warnings=(*warnings, *silent({LEARNED: learned.id}, found)),
    )


def _known(lab: Lab) -> dict[str, Design]:
    """The human memories that are to be beaten, if it is known which."""
    seen = {each["name"]: lab.design(each) for each in lab.seen_to_gain() if each["human"]}
    return dict(lab.named) or seen


def _config(lab: Lab) -> LearnConfig:
    """A learning run small enough to come to its end in a while."""
    terms, domain = lab.terms, lab.domain
    usual = lab.learnable.settings(domain)
    splits = ("train", "valid", "test", "shift")
    most = min(lab.count(split, replace(lab.config.rules, tasks=0)) for split in splits)
    return replace(
        lab.config,
        selector=usual.get("selector", lab.config.selector),
        proposer=terms.proposer or lab.config.proposer,
        budget=Budget(designs=terms.budget),
        rules=replace(lab.config.rules, tasks=min(terms.searched, most)),
        hints=terms.hints,
        final_repeats=lab.config.rules.repeats,
        batch=4,
        confirm=4,
        confirm_seeds=1,
        shortlist=2,
        explain=False,
    )


def _told_of(summary: Summary) -> dict[str, Any]:
    decision = summary.decision
    return {
        "learned": summary.learned,
        "promoted": summary.promoted,
        "gate": decision.reason if decision else "",
        "counts": summary.search.to_json() if summary.search else None,
    }
