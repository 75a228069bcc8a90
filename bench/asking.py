"""What it brings to ask memory while the agent acts: once, every five actions, when it wishes.

    python -m bench.asking [--domains textworld,minihack,coding,alfworld] [--splits test,shift]
        [--asks once,every:5,when] [--designs NAMES] [--tasks 30] [--seeds 0] [--home FOLDER] [--json]

For the human designs that need no model and for `bench/listed.py`, which lives on what is read in the
episode: mean reward under each rule, the paired gain over `once` on the same tasks and seeds with its
p, and how often memory was asked in an episode. Every design is played under every rule.
Resumable: give the same --home again.
"""

import argparse
import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

from metamem.api import evaluate
from metamem.core import registry
from metamem.core.types import Design, Evaluation
from metamem.designs.library import rivals
from metamem.evaluation.rules import Rules, asking
from metamem.evaluation.statistics.comparison import paired_comparison

DOMAINS = "textworld,minihack,coding,alfworld"
OWN = Path(__file__).with_name("listed.py")


@dataclass(frozen=True, slots=True)
class Row:
    domain: str
    split: str
    design: str
    ask: str
    reward: float
    gain: float  # over asking once
    p: float | None
    asks: float  # in an episode
    tasks: int


def designs(domain: str, named: str) -> list[Design]:
    made = registry.create("domains", domain)
    found = list(rivals(made.baselines(), model=False).values())
    found.append(Design(OWN.read_text(), name="listed"))
    wanted = named.split(",") if named else [design.name for design in found]
    return [design for design in found if design.name in wanted]


def rules(ask: str, tasks: int) -> Rules:
    return Rules(tasks=tasks, **asking(ask))


def rows(domain: str, split: str, given: argparse.Namespace) -> list[Row]:
    seeds = [int(seed) for seed in given.seeds.split(",")]
    chosen = designs(domain, given.designs)
    played: dict[str, list[list[Evaluation]]] = {}  # rule → seed → design
    for ask in given.asks.split(","):
        played[ask] = [
            evaluate(
                chosen, domain, split, home=given.home, seed=seed, rules=rules(ask, given.tasks)
            )
            for seed in seeds
        ]
    found = []
    for number, design in enumerate(chosen):
        by_rule = {ask: _by_task([each[number] for each in done]) for ask, done in played.items()}
        for ask, rewards in by_rule.items():
            against = paired_comparison(rewards, by_rule["once"]) if ask != "once" else None
            asks = [row.costs.get("asks", 1.0) for each in played[ask] for row in each[number].rows]
            found.append(
                Row(
                    domain,
                    split,
                    design.name,
                    ask,
                    fmean(rewards.values()),
                    against.gain if against else 0.0,
                    against.p_permutation if against else None,
                    fmean(asks),
                    len(rewards),
                )
            )
    return found


def _by_task(evaluations: list[Evaluation]) -> dict[str, float]:
    """The mean over seeds: the task is the unit."""
    each = [evaluation.by_task() for evaluation in evaluations]
    return {task: fmean(one[task] for one in each) for task in each[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--domains", default=DOMAINS)
    parser.add_argument("--splits", default="test,shift")
    parser.add_argument("--asks", default="once,every:5,when", help="begins with once")
    parser.add_argument("--designs", default="", help="names; all by default")
    parser.add_argument("--tasks", type=int, default=30, help="0: all of the split")
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--home", default="")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if not given.asks.startswith("once"):
        parser.error("--asks begins with once: the others are compared with it")
    with tempfile.TemporaryDirectory() as folder:
        given.home = given.home or folder
        for domain in given.domains.split(","):
            for split in given.splits.split(","):
                _show(rows(domain, split, given), given.json)


def _show(found: list[Row], as_json: bool) -> None:
    for row in found:
        if as_json:
            print(json.dumps(asdict(row)), flush=True)
            continue
        p = "" if row.p is None else f"  p {row.p:.3f}"
        told = f"{row.gain:+.3f}{p}" if row.ask != "once" else ""
        print(
            f"{row.domain:10} {row.split:6} {row.design:22} {row.ask:9} {row.reward:.3f}"
            f"  asked {row.asks:4.1f}  {told}",
            flush=True,
        )


if __name__ == "__main__":
    main()
