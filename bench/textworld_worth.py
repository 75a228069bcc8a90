"""What memory is worth in TextWorld, in houses that train knows and in houses that it does not.

    python -m bench.textworld_worth [--json]     needs the extra textworld; 80 + 60 tasks a row

Mean reward of the domain's own agent with no memory, each human design and the oracle, on test
(whose houses are those of train), on tasks of shift of the same families in unseen houses, and on
its games of other families. Two rows are attacks, advised from train tasks with all that their
oracle knows: the plan of the task with the same goal that begins most alike (`recall`), and the
plan of the task with the same number (`numbers`). What they gain over no memory is what the houses
give away by being the same; in unseen houses it should be nothing.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

import metamem
from metamem.core.types import Task
from metamem.designs import library
from metamem.domains.textworld.domain import TextWorldDomain
from metamem.evaluation.following import told_reward

Rewards = Mapping[str, float]  # by task


def part(task: Task) -> str:
    if not task.id.startswith("shift"):
        return "test: houses of train"
    return "unseen houses" if "unseen" in task.kind else "other games"


def alike(task: Task, known: Sequence[Task]) -> Task:
    """The task with the same goal whose way begins with most of the same words."""
    words = set(task.data["plan"][0].split())

    def shared(other: Task) -> tuple[bool, int]:
        return other.goal == task.goal, len(words & set(other.data["plan"][0].split()))

    return max(known, key=shared)


async def attacked(domain: TextWorldDomain, source: Callable[[Task], Task]) -> Rewards:
    found = {}
    for split in ("test", "shift"):
        for task in domain.tasks(split):
            advice = domain.oracle(source(task))
            found[task.id] = await told_reward(domain, task, domain.agent, advice, 0)
    return found


def measure(domain: TextWorldDomain) -> dict[str, Rewards]:
    names = [*library.rivals(domain.baselines(), model=False), "oracle"]
    rows: dict[str, dict[str, float]] = {name: {} for name in names}
    with tempfile.TemporaryDirectory(prefix="metamem-") as home:
        for split in ("test", "shift"):
            found = metamem.evaluate(names, domain.name, split, home=home)
            for name, evaluation in zip(names, found, strict=True):
                rows[name] |= evaluation.by_task()
    train = list(domain.tasks("train"))
    numbered = {int(task.id.rpartition("-")[2]): task for task in train}

    def same_number(task: Task) -> Task:
        return numbered[int(task.id.rpartition("-")[2]) % len(train)]

    return rows | {
        "recall": asyncio.run(attacked(domain, lambda task: alike(task, train))),
        "numbers": asyncio.run(attacked(domain, same_number)),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    domain = TextWorldDomain()
    parts: dict[str, list[str]] = {}
    for split in ("test", "shift"):
        for task in domain.tasks(split):
            parts.setdefault(part(task), []).append(task.id)
    table = {
        name: {where: round(fmean(rewards[t] for t in own), 3) for where, own in parts.items()}
        for name, rewards in measure(domain).items()
    }
    if chosen.json:
        print(json.dumps(table))
        return 0
    print(" " * 22, "  ".join(f"{where} ({len(own)})" for where, own in parts.items()))
    for name, found in table.items():
        print(f"{name:22}", "  ".join(f"{found[w]:>{len(w) + 5}.3f}" for w in parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
