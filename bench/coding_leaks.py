"""Does what is seen in one coding task answer another? Cheating memories beside honest ones.

    python -m bench.coding_leaks [--seed 0] [--tasks 0] [--splits test shift] [--json]

Every probe learns from all of train and advises the repairer on each task of a split, once. Shown:
success without advice, the gain with each probe, its 95 % interval and p (paired, by task), and how
often a cheat's edits hold the repair itself: after train (`restored`), after all other tasks of the
same split (`within`), and where the leak is open, on tasks of train that were seen sound (`again`).
"""

import argparse
import asyncio
import json
import time
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from bench.coding_probes import CHEATS, Cheat, history, sound, told, true_kind
from metamem.agents.repair import Repair
from metamem.core.episode import play
from metamem.core.protocols import Seat
from metamem.core.types import Task
from metamem.domains.coding.domain import CodingDomain
from metamem.domains.coding.projects import Bug, bugs
from metamem.evaluation.statistics.intervals import t_interval
from metamem.evaluation.statistics.paired import sign_flip

Advise = Callable[[Bug], str]
FEW = 40  # tasks on which the cheats are tried within a split and where the leak is open


def restores(
    cheat: Cheat, learned: Sequence[Bug], asked: Sequence[Bug], itself: bool = True
) -> float:
    """How often one of the edits makes the project what it was before the fault.

    Unless `itself`, a task that is asked is left out of what was learned.
    """
    seen = {bug.id: sound(bug) for bug in learned}
    return fmean(
        any(
            edit.mends(bug.files, sound(bug))
            for edit in cheat([t for i, t in seen.items() if itself or i != bug.id], bug.files)
        )
        for bug in asked
    )


def probes(learned: Sequence[Bug]) -> dict[str, Advise]:
    seen = [sound(bug) for bug in learned]

    def cheating(cheat: Cheat) -> Advise:
        return lambda bug: told(cheat(seen, bug.files))

    return {
        **{f"text: {name}": cheating(cheat) for name, cheat in CHEATS.items()},
        "how: earlier repairs of the project": lambda bug: history(learned, bug),
        "how: the true kind": true_kind,
    }


async def rewards(
    domain: CodingDomain, tasks: Sequence[Task], asked: Sequence[Bug], advise: Advise | None
) -> list[float]:
    found = []
    for task, bug in zip(tasks, asked, strict=True):
        player = Repair().start(Seat(task.goal, 0))
        if advise is not None and (advice := advise(bug)):
            player.advise(advice)
        episode = await play(
            task, domain.world(task, 0), player, None, max_steps=domain.max_steps, advice_tokens=0
        )
        found.append(episode.reward)
    return found


def measure(split: str, seed: int, most: int, cache: str) -> dict[str, Any]:
    """One split: success without advice, a row for each probe, and what the cheats restore."""
    domain = CodingDomain(seed=seed, cache=cache)
    learned, asked, tasks = bugs("train", seed), bugs(split, seed), domain.tasks(split)
    asked, tasks = asked[: most or None], tasks[: most or None]
    began = time.perf_counter()
    none = asyncio.run(rewards(domain, tasks, asked, None))
    result: dict[str, Any] = {"split": split, "tasks": len(tasks), "none": fmean(none)}
    result["seconds_a_case"] = (time.perf_counter() - began) / len(tasks)
    for name, advise in probes(learned).items():
        got = asyncio.run(rewards(domain, tasks, asked, advise))
        gains = [one - other for one, other in zip(got, none, strict=True)]
        low, high = t_interval(gains)
        row = {"mean": fmean(got), "gain": fmean(gains), "low": low, "high": high}
        result[name] = {**row, "p": sign_flip(gains).p}
    for name, cheat in CHEATS.items():
        result[f"text: {name}"] |= {
            "restored": restores(cheat, learned, asked),
            "within": restores(cheat, asked, asked[:FEW], itself=False),
            "again": restores(cheat, learned, learned[:FEW]),
        }
    return result


def show(found: dict[str, Any]) -> None:
    print(
        f"{found['split']}, {found['tasks']} tasks: without advice {found['none']:.1%},"
        f" {found['seconds_a_case']:.2f} s a case"
    )
    print(
        f"{'probe':42}{'success':>8}{'gain':>7}  95 % interval        p  restored  within   again"
    )
    for name, row in found.items():
        if isinstance(row, dict):
            line = f"{name:42}{row['mean']:8.1%}{100 * row['gain']:+7.1f}"
            line += f"  {100 * row['low']:+6.1f} to {100 * row['high']:+6.1f}  {row['p']:7.2g}"
            if "restored" in row:
                line += f"{row['restored']:10.1%}{row['within']:8.1%}{row['again']:8.1%}"
            print(line)
    print(flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tasks", type=int, default=0, help="of each split at most; 0: all")
    parser.add_argument("--splits", nargs="+", default=["test", "shift"])
    parser.add_argument("--cache", default="auto")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    for split in given.splits:
        found = measure(split, given.seed, given.tasks, given.cache)
        if given.json:
            print(json.dumps(found), flush=True)
        else:
            show(found)


if __name__ == "__main__":
    main()
