"""The learned designs that come along, played anew beside every human design of their domain.

    python -m bench.learned [--design NAME ...] [--seeds 0 1 2] [--splits test shift] [--home FOLDER]
        [--data FOLDER]

Each seed collects its own episodes and plays with its own luck. Rows: no memory, every human design
that needs no model, the learned design, and the same with no experience; all asked by the rule that the
learned design was made for. `--data` is the folder of published ALFWorld games.
Gains are by task, over all seeds, against the best human design on those tasks. Resumable: what the
archive in FOLDER has is not played again.
"""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from metamem.api import evaluate
from metamem.core import registry
from metamem.core.types import Evaluation
from metamem.designs import library
from metamem.evaluation.rules import Rules
from metamem.evaluation.statistics import paired_comparison

# Designs that are asked while acting.
ASKED = {
    "textworld": {"ask_when": 10},
    "minihack": {"ask_when": 10},
    "alfworld_acting": {"ask_when": 30},
    "alfworld_when": {"ask_when": 10},
    "baba_when": {"ask_when": 10},
    "coding_when": {"ask_when": 10},
    "textworld_when": {"ask_when": 10},
}


def domain_of(design: str) -> str:
    return design.partition("_")[0]


def table(
    design: str, split: str, seeds: Sequence[int], home: str, data: str = "generated"
) -> dict[str, list[Evaluation]]:
    """For each row its evaluations, one for each seed."""
    domain, asked = domain_of(design), ASKED.get(design, {})
    settings = {"data": data} if domain == "alfworld" else {}
    made = registry.create("domains", domain, **settings)
    name = f"{library.LEARNED}/{design}"
    humans = list(library.rivals(made.baselines(), model=False))
    rows: dict[str, list[Evaluation]] = defaultdict(list)
    for seed in seeds:
        for names, rules in (
            ([*humans, name], Rules(**asked)),
            ([name], Rules(experience="none", **asked)),
        ):
            found = evaluate(
                names,
                domain,
                split,
                home=home,
                seed=seed,
                rules=rules,
                purpose="report",
                domain_settings=settings,
            )
            for row, evaluation in zip(names, found, strict=True):
                lacking = rules.experience == "none"
                rows[f"{row}, no experience" if lacking else row].append(evaluation)
    return rows


def by_task(evaluations: Sequence[Evaluation]) -> dict[str, float]:
    """The mean reward of each task over the seeds."""
    found: dict[str, list[float]] = defaultdict(list)
    for evaluation in evaluations:
        for task, reward in evaluation.by_task().items():
            found[task].append(reward)
    return {task: fmean(rewards) for task, rewards in found.items()}


def show(design: str, split: str, rows: dict[str, list[Evaluation]]) -> str:
    name = f"{library.LEARNED}/{design}"
    humans = {row: by_task(found) for row, found in rows.items() if "/" not in row}
    best = max(humans, key=lambda row: fmean(humans[row].values()))
    lines = [f"{design}, {split}, {len(humans[best])} tasks"]
    for row, found in rows.items():
        each = "  ".join(f"{100 * e.reward:5.1f}" for e in found)
        lines.append(f"  {row:34} {100 * fmean(e.reward for e in found):5.1f}   ({each})")
    compared = paired_comparison(by_task(rows[name]), humans[best])
    lines.append(
        f"  {100 * compared.gain:+.1f} points over {best}, p = {compared.p_permutation:.4f}"
    )
    return "\n".join(lines)


def main() -> None:
    known = [name.partition("/")[2] for name in library.learned_names()]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--design", nargs="+", choices=known, default=known)
    parser.add_argument("--data", default="generated")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--splits", nargs="+", default=["test", "shift"])
    parser.add_argument("--home", default="metamem-home")
    given = parser.parse_args()
    for design in given.design:
        for split in given.splits:
            rows = table(design, split, given.seeds, given.home, given.data)
            print(show(design, split, rows), flush=True)


if __name__ == "__main__":
    main()
