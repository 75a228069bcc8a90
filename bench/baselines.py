"""What every human design reaches in a domain, beside no memory and the domain's own answers.

    python -m bench.baselines --domain minihack [--splits test shift] [--seed 0] [--repeats 1]

One table a split: mean reward in per cent with its 95 % interval, tokens of advice, and the share of
tasks that the domain has an answer for. Designs that need a model are left out.
"""

import argparse
import json
from statistics import fmean
from typing import Any

import metamem
from metamem.core import registry
from metamem.core.protocols import WorldDomain
from metamem.designs.library import load, needs_model
from metamem.evaluation.rules import Rules
from metamem.evaluation.statistics import t_interval


def rows(domain: WorldDomain, split: str, given: argparse.Namespace) -> list[dict[str, Any]]:
    humans = [name for name in domain.baselines() if not needs_model(load(name))]
    names = [*humans, getattr(domain, "answers", "oracle")]
    evaluations = metamem.evaluate(
        names,
        domain.name,
        split,
        home=given.home,
        purpose="bench",
        rules=Rules(repeats=given.repeats),
        seed=given.seed,
    )
    found = []
    for name, evaluation in zip(names, evaluations, strict=True):
        rewards = list(evaluation.by_task().values())
        low, high = t_interval(rewards, 0.95)
        found.append(
            {
                "design": name,
                "tasks": len(rewards),
                "reward": 100 * evaluation.reward,
                "low": 100 * max(0.0, low),
                "high": 100 * min(1.0, high),
                "tokens": fmean(row.advice_tokens for row in evaluation.rows),
            }
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--domain", default="minihack")
    parser.add_argument("--splits", nargs="+", default=["test", "shift"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--home", default="bench/results/baselines")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    domain: WorldDomain = registry.create("domains", given.domain)
    for split in given.splits:
        answered = fmean(bool(domain.oracle(task)) for task in domain.tasks(split))
        found = rows(domain, split, given)
        if given.json:
            print(json.dumps({"split": split, "answered": answered, "rows": found}), flush=True)
            continue
        print(f"\n{given.domain}, {split}, {found[0]['tasks']} tasks; answers for {answered:.1%}")
        print("| design | reward % | 95 % interval | tokens |\n|---|---|---|---|")
        for row in found:
            print(
                f"| {row['design']} | {row['reward']:.1f} | {row['low']:.1f} … {row['high']:.1f}"
                f" | {row['tokens']:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
