"""Could a memory win by recalling text? Whole solutions of train, played again on other tasks.

    python -m bench.leaks [--domain baba] [--split test] [--tasks 0] [--json]

The cheat is given more than any memory has: the right answer of every task of train. It recalls one
of them for each task, by what the task looks like at first, by its goal and kind, by its number, or
the answer that is most common; once as advice to the domain's agent, and once played word for word.
Beside it: no advice, and the task's own answer. Recalling how should win; recalling text should not.
Also told: how many tasks begin word for word like one of train (`seen before`), and how many of the
cheat's answers were the task's own (`same answer`).
"""

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from metamem.core import registry
from metamem.core.protocols import WorldDomain
from metamem.core.types import Task
from metamem.evaluation.following import told_reward

Known = list[tuple[Task, frozenset[str], str]]  # a task, the lines of its first sight, its answer
Recall = Callable[[int, Task, frozenset[str], Known], str]


def first_sight(domain: WorldDomain, task: Task) -> frozenset[str]:
    world = domain.world(task, 0)
    try:
        return frozenset(line.strip() for line in world.reset().text.splitlines() if line.strip())
    finally:
        world.close()


def by_sight(number: int, task: Task, sight: frozenset[str], known: Known) -> str:
    return max(known, key=lambda one: len(one[1] & sight) / (len(one[1] | sight) or 1))[2]


def by_goal(number: int, task: Task, sight: frozenset[str], known: Known) -> str:
    """Among those of the same goal, or else of the same kind, the one that looks most alike."""
    alike = [one for one in known if one[0].goal == task.goal and one[0].kind == task.kind]
    alike = alike or [one for one in known if one[0].kind == task.kind] or known
    return by_sight(number, task, sight, alike)


def by_number(number: int, task: Task, sight: frozenset[str], known: Known) -> str:
    return known[number % len(known)][2]


def most_common(number: int, task: Task, sight: frozenset[str], known: Known) -> str:
    kind = [one[2] for one in known if one[0].kind == task.kind] or [one[2] for one in known]
    return Counter(kind).most_common(1)[0][0]


CHEATS: dict[str, Recall] = {
    "by first sight": by_sight,
    "by goal and kind": by_goal,
    "by number": by_number,
    "most common of its kind": most_common,
}


def actions_of(answer: str) -> list[str]:
    """The actions that an answer lists, with or without numbers."""
    lines = []
    for line in answer.splitlines():
        number, dot, rest = line.partition(". ")
        lines.append(rest if dot and number.isdigit() else line)
    return lines


def replayed(domain: WorldDomain, task: Task, actions: Sequence[str]) -> float:
    """The reward of doing just that."""
    world = domain.world(task, 0)
    try:
        seen = world.reset()
        for action in actions[: domain.max_steps]:
            if seen.done:
                break
            seen = world.step(action)
        return seen.reward
    finally:
        world.close()


def probe(domain: WorldDomain, split: str, size: int) -> dict[str, Any]:
    known = [
        (task, first_sight(domain, task), answer)
        for task in domain.tasks("train")
        if (answer := domain.oracle(task))
    ]
    tasks = list(domain.tasks(split))[: size or None]
    sights = [first_sight(domain, task) for task in tasks]
    own = [domain.oracle(task) for task in tasks]
    trained = {first_sight(domain, task) for task in domain.tasks("train")}

    def advised(answers: Sequence[str]) -> float:
        async def all_of() -> list[float]:
            given = zip(tasks, answers, strict=True)
            return [await told_reward(domain, t, domain.agent, a, 0) for t, a in given]

        return fmean(asyncio.run(all_of()))

    rows = {"no advice": {"advised": advised([""] * len(tasks))}}
    for name, recall in CHEATS.items():
        told = [
            recall(n, task, sight, known)
            for n, (task, sight) in enumerate(zip(tasks, sights, strict=True))
        ]
        rows[name] = {
            "advised": advised(told),
            "word for word": fmean(
                replayed(domain, task, actions_of(answer))
                for task, answer in zip(tasks, told, strict=True)
            ),
            "same answer": fmean(a == b and bool(a) for a, b in zip(told, own, strict=True)),
        }
    rows["its own answer"] = {"advised": advised(own)}
    return {
        "domain": domain.name,
        "split": split,
        "tasks": len(tasks),
        "seen before": sum(sight in trained for sight in sights),
        "rows": rows,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--domain", default="baba")
    parser.add_argument("--split", default="test")
    parser.add_argument("--tasks", type=int, default=0, help="0: all of the split")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = probe(registry.create("domains", given.domain), given.split, given.tasks)
    if given.json:
        print(json.dumps(found))
        return
    print(
        f"{found['domain']}, {found['split']}: {found['tasks']} tasks, of which"
        f" {found['seen before']} begin like one of train"
    )
    for name, row in found["rows"].items():
        print(f"{name:24} " + ", ".join(f"{what} {100 * v:.1f} %" for what, v in row.items()))


if __name__ == "__main__":
    main()
