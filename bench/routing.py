"""Routing on real rows: which agent with which memory wins which task, by metamem's own evaluations.

    python -m bench.routing [--domain NAME ...] [--seeds 20] [--home FOLDER] [--rows FILE.jsonl]
    python -m bench.routing --generated 100     # streams with arms of which all is known: seconds

`mixed` takes the tasks of three domains together, with arms of which none is good in all of them: an arm
that cannot act in a domain at all has no success there.

Every arm is an agent with a memory, played on all tasks of valid and test, so that the outcome of each arm
is known for each task: a full-information log. The router learns on valid, one task after another, and sees
of each task the outcome of the arm that it drew and of no other; then it is frozen and gives every task of
test to the arm that it expects to win. Beside it: the best single arm as all outcomes of valid have it
(which no bandit sees), a router that saw all outcomes of valid, and the best arm of each task in hindsight.
Also: what the off-policy estimates make of the router's own log, beside what is true.

Resumable: what the archive in FOLDER has is not played again.
"""

import argparse
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from metamem.api import evaluate
from metamem.core import registry
from metamem.core.errors import UsageError
from metamem.core.ids import derive_seed
from metamem.core.protocols import WorldDomain
from metamem.domains.routing import generated
from metamem.evaluation.jobs import Spec
from metamem.evaluation.offpolicy import Decided, doubly_robust, ips, snips
from metamem.evaluation.statistics import paired_comparison, t_interval
from metamem.routing import Context, Outcome, Router, Settings

ROUTED, TOLD, EVENLY = "routed", "best arm of each kind, were it told", "dealt evenly"
PASSES = 2  # over the tasks of valid
SETTINGS: dict[str, dict[str, Any]] = {"alfworld": {"data": "generated"}}
ARMS: dict[str, tuple[str, ...]] = {  # AGENT/DESIGN, none of which needs a model
    "dialogue": (
        "relay/no_memory",
        "relay/line_search",
        "relay/trajectory_retrieval",
        "relay/object_places",
        "relay/success_retrieval",
    ),
    "alfworld": (
        "reader/no_memory",
        "reader/success_retrieval",
        "reader/object_places",
        "explorer/success_retrieval",
        "explorer/object_places",
    ),
    "baba": (
        "explorer/no_memory",
        "explorer/success_retrieval",
        "explorer/action_statistics",
        "reader/success_retrieval",
        "reader/action_statistics",
    ),
}
MIXED = "mixed"
MIXED_OF = {"alfworld": 100, "baba": 148, "dialogue": 148}  # tasks of each split at most
MIXED_ARMS = (
    "reader/object_places",
    "reader/success_retrieval",
    "explorer/success_retrieval",
    "relay/line_search",
)


@dataclass(frozen=True)
class Known:
    """A task, and what each arm made of it."""

    task: str
    kind: str
    context: Context
    outcomes: Mapping[str, Outcome]


def rows(domain: str, split: str, home: str) -> list[Known]:
    """Every task of a split with the outcomes of all arms."""
    if domain != MIXED:
        return _rows(domain, split, home, ARMS[domain])
    found = []
    for name, most in MIXED_OF.items():
        own = _rows(name, split, home, MIXED_ARMS)
        own.sort(key=lambda known: derive_seed("mixed", known.task))
        found += [replace(known, kind=name) for known in own[:most]]
    return found


def _rows(domain: str, split: str, home: str, arms: Sequence[str]) -> list[Known]:
    settings = SETTINGS.get(domain, {})
    made: WorldDomain = registry.create("domains", domain, **settings)
    won: dict[str, dict[str, Outcome]] = {task.id: {} for task in made.tasks(split)}
    for arm in arms:
        agent, _, design = arm.partition("/")
        try:
            (found,) = evaluate(
                design,
                domain,
                split,
                home=home,
                agent=Spec(agent),
                purpose="routing",
                domain_settings=settings,
            )
            played = {row.task_id: Outcome(row.reward, 0.0, row.steps) for row in found.rows}
        except UsageError:  # it needs admissible actions, and there are none
            played = dict.fromkeys(won, Outcome(0.0))
        for task_id, outcome in played.items():
            won[task_id][arm] = outcome
    known = []
    for task in made.tasks(split):
        world = made.world(task, 0)
        seen = "" if task.group else world.reset().text  # a question is all there is to see
        world.close()
        name = f"{domain}/{task.id}"
        known.append(Known(name, task.kind, Context(task.goal, seen), won[task.id]))
    return known


def learned(log: Sequence[Known], settings: Settings, seed: int) -> tuple[Router, list[Any]]:
    """A router after so many passes over a log, and what it decided on the last of them."""
    router, decided = Router(settings), []
    arms = list(log[0].outcomes)
    for turn in range(PASSES):
        order = sorted(log, key=lambda known: derive_seed("order", seed, turn, known.task))
        for known in order:
            choice = router.choose(known.context, arms, derive_seed(seed, turn, known.task))
            router.learn(known.context, choice.arm, known.outcomes[choice.arm])
            if turn == PASSES - 1:
                decided.append((known, choice))
    return router, decided


def informed(log: Sequence[Known], settings: Settings) -> Router:
    """A router that saw what every arm made of every task."""
    router = Router(settings)
    for known in log:
        for arm, outcome in known.outcomes.items():
            router.learn(known.context, arm, outcome)
    return router


def best_by_kind(log: Sequence[Known], otherwise: str) -> dict[str, str]:
    """The arm that does best on each kind of task: kinds are the domain's own, and nobody is told."""
    kinds: dict[str, list[Known]] = {}
    for known in log:
        kinds.setdefault(known.kind, []).append(known)

    def mean(own: Sequence[Known], arm: str) -> float:
        return fmean(known.outcomes[arm].success for known in own)

    return {
        kind: max((otherwise, *own[0].outcomes), key=lambda arm: mean(own, arm))
        for kind, own in kinds.items()
    }


def giving(router: Router, arms: Sequence[str]) -> Callable[[Known], str]:
    """A frozen router: the arm that it expects to win."""
    return lambda known: router.best(known.context, arms)


def by_task(log: Sequence[Known], arm_of: Callable[[Known], str]) -> dict[str, float]:
    return {known.task: known.outcomes[arm_of(known)].success for known in log}


def report(domain: str, home: str, seeds: int, settings: Settings) -> str:
    valid, test = rows(domain, "valid", home), rows(domain, "test", home)
    arms = list(valid[0].outcomes)
    means = {arm: fmean(k.outcomes[arm].success for k in valid) for arm in arms}
    best = max(arms, key=lambda arm: means[arm])
    alone = {arm: fmean(k.outcomes[arm].success for k in test) for arm in arms}
    routed: dict[str, list[float]] = {known.task: [] for known in test}
    covered: dict[str, list[bool]] = {"ips": [], "snips": [], "doubly robust": []}
    trusted = 0
    for seed in range(seeds):
        router, decided = learned(valid, settings, seed)
        for task, reward in by_task(test, giving(router, arms)).items():
            routed[task].append(reward)
        held = _estimated(valid, decided, settings)
        trusted += held is not None
        for name in held or ():
            covered[name].append(held[name])
    mean_routed = {task: fmean(rewards) for task, rewards in routed.items()}
    fixed = by_task(test, lambda known: best)
    full = informed(valid, settings)
    knowing = by_task(test, giving(full, arms))
    by_kind = best_by_kind(valid, best)
    told = by_task(test, lambda known: by_kind.get(known.kind, best))
    hindsight = by_task(test, lambda k: max(arms, key=lambda arm: k.outcomes[arm].success))
    lines = [f"{domain}: {len(valid)} tasks to learn from, {len(test)} held out, {seeds} seeds"]
    lines += [f"  {arm:36} {100 * alone[arm]:5.1f}" for arm in arms]
    for name, rewards in (
        ("routed, learned from what it drew", mean_routed),
        ("routed, learned from all outcomes", knowing),
        (TOLD, told),
        ("best arm of each task, in hindsight", hindsight),
    ):
        found = paired_comparison(rewards, fixed)
        lines.append(
            f"  {name:36} {100 * found.mean_a:5.1f}   over {best}: {100 * found.gain:+.1f}"
            f" ({100 * found.low:+.1f} … {100 * found.high:+.1f}), p = {found.p_permutation:.4f}"
        )
    told_of = ", ".join(f"{name} {sum(each)}" for name, each in covered.items())
    lines.append(
        f"  what the logs say of {best} alone comes without a warning in {trusted} of {seeds}; of these the"
        f" 95 % interval holds the truth: {told_of}"
    )
    return "\n".join(lines)


def _estimated(
    log: Sequence[Known], decided: Sequence[Any], settings: Settings
) -> dict[str, bool] | None:
    """Whether the estimates of the best single arm's worth hold what is true, by one router's log."""
    arms = list(log[0].outcomes)
    worth = Router(settings).worth
    truth = {arm: fmean(worth(k.outcomes[arm]) for k in log) for arm in arms}
    best = max(arms, key=lambda arm: truth[arm])
    made = [Decided(c.odds, c.arm, worth(k.outcomes[c.arm])) for k, c in decided]
    policy = [{best: 1.0}] * len(made)
    # Predictions of each arm's mean, which no reward of the log went into.
    guesses = [dict.fromkeys(arms, 0.5)] * len(made)
    try:
        estimates = {
            "ips": ips(made, policy),
            "snips": snips(made, policy),
            "doubly robust": doubly_robust(made, policy, guesses),
        }
    except UsageError:  # that arm was not drawn once
        return None
    if any(estimate.note for estimate in estimates.values()):
        return None
    return {name: e.low <= truth[best] <= e.high for name, e in estimates.items()}


def on_generated(seeds: int, rounds: int, effect: float, *, turns: bool) -> str:
    """A router on generated streams, beside the single arm that is best on each, as hindsight has it."""
    gains: dict[str, list[float]] = {ROUTED: [], TOLD: [], EVENLY: []}
    beaten = 0
    for seed in range(seeds):
        stream = generated(random.Random(derive_seed("bench", seed)), rounds, effect, turns=turns)
        router = Router()
        worth = [{arm: router.worth(o) for arm, o in row.outcomes.items()} for row in stream]
        arms = list(worth[0])
        alone = {arm: fmean(each[arm] for each in worth) for arm in arms}
        drawn = []
        for number, row in enumerate(stream):
            choice = router.choose(row.context, arms, derive_seed(seed, number))
            router.learn(row.context, choice.arm, row.outcomes[choice.arm])
            drawn.append(worth[number][choice.arm])
        kinds: dict[str, list[dict[str, float]]] = {}
        for row, each in zip(stream, worth, strict=True):
            kinds.setdefault(" ".join(row.context.task.split()[:3]), []).append(each)
        told = sum(max(sum(e[arm] for e in own) for arm in arms) for own in kinds.values())
        best = max(alone.values())
        gains[ROUTED].append(fmean(drawn) - best)
        gains[EVENLY].append(fmean(alone.values()) - best)
        gains[TOLD].append(told / rounds - best)
        beaten += fmean(drawn) > best
    lines = [
        f"{seeds} streams of {rounds} tasks, effect {effect:g}{', arms change places halfway' if turns else ''};"
        f" worth beside the best single arm of each stream (routed is better in {beaten})"
    ]
    for name in gains:
        low, high = t_interval(gains[name])
        lines.append(f"  {name:36} {fmean(gains[name]):+.3f} ({low:+.3f} … {high:+.3f})")
    return "\n".join(lines)


def write_rows(path: Path, domains: Sequence[str], home: str) -> None:
    """All rows of a domain for `metamem learn routing --data FILE`."""
    with path.open("w", encoding="utf-8") as file:
        for domain in domains:
            for split in ("valid", "test"):
                for known in rows(domain, split, home):
                    outcomes = {
                        arm: {"success": o.success, "cost": o.cost, "latency": o.latency}
                        for arm, o in known.outcomes.items()
                    }
                    told = {"task": known.context.task, "seen": known.context.seen}
                    file.write(json.dumps({**told, "outcomes": outcomes}) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--domain", nargs="+", choices=[*ARMS, MIXED], default=[*ARMS, MIXED])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--home", default="metamem-home")
    parser.add_argument("--rows", type=Path, help="write the full-information rows of one domain")
    parser.add_argument("--generated", type=int, default=0, metavar="STREAMS")
    given = parser.parse_args()
    if given.generated:
        for effect, turns in ((1.0, False), (1.0, True)):
            print(on_generated(given.generated, 400, effect, turns=turns), flush=True)
        return
    if given.rows:
        if len(given.domain) > 1:
            raise UsageError("rows are written for one domain at a time: their arms differ")
        write_rows(given.rows, given.domain, given.home)
        return
    settings = Settings(latency_weight=0.0)
    for domain in given.domain:
        print(report(domain, given.home, given.seeds, settings), flush=True)


if __name__ == "__main__":
    main()
