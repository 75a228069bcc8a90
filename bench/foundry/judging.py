"""What judging tools costs, and which share of recorded cases can be replayed at all.

    python -m bench.foundry.judging [--tasks 40] [--seeds 1] [--chores release …] [--at-once 2]
    python -m bench.foundry.judging --chance

Each chore of the world is done again and again by the agent without a model, among tasks that come once. What
is mined of it is written by template and judged. A wrong tool is judged beside it: the same one, but in a
quarter of the cases it leaves out its last step. `--chance` computes how likely a tool passes that is right in a given share of
its cases, judged once more with every case that comes.
"""

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from bench.foundry.agent import Alone, work
from bench.foundry.chores import CHORES, Chore
from bench.foundry.reading import Diary
from bench.foundry.tasks import stream
from bench.foundry.world import make_tree
from metamem.evaluation.statistics import binomial_lower_bound
from metamem.foundry.tools.judge import LEVEL, MOST, SHARE, judge
from metamem.foundry.tools.replay import Replayer
from metamem.foundry.tools.template import TemplateWriter
from metamem.foundry.tools.tool import Case, Tool
from metamem.foundry.tools.trial import Budget
from metamem.foundry.tools.verdict import Verdict
from metamem.foundry.words import Trace, Workflow
from metamem.foundry.workflows import store
from metamem.foundry.workflows.candidates import Candidate, candidates
from metamem.foundry.workflows.mine import mine
from metamem.foundry.workflows.tables import WORKFLOWS
from metamem.service.database import Database

OFTEN = 0.75  # of the tasks are the chore


@cache
def _allowed(cases: int) -> int:
    """How many failures among so many cases pass; -1 where none do."""
    failures = -1
    while failures < cases and (binomial_lower_bound(cases - failures - 1, cases, LEVEL) >= SHARE):
        failures += 1
    return failures


def chance_of_passing(right: float, most: int) -> float:
    """That a tool which is right in that share of cases ever passes, looked at after every case."""
    waiting, passed = {0: 1.0}, 0.0
    for cases in range(1, most + 1):
        after: dict[int, float] = {}
        for failures, chance in waiting.items():
            after[failures] = after.get(failures, 0.0) + chance * right
            after[failures + 1] = after.get(failures + 1, 0.0) + chance * (1.0 - right)
        passed += sum(chance for failures, chance in after.items() if failures <= _allowed(cases))
        waiting = {f: chance for f, chance in after.items() if f > _allowed(cases)}
    return passed


@dataclass(frozen=True, slots=True)
class Judged:
    verdict: Verdict
    seconds: float
    held_out: int


class Slip:
    """Writes what the template writes, with one slip: in a quarter of the cases the last step is left out."""

    name = "slip"

    def write(self, workflow: Workflow, cases: Sequence[Case] = ()) -> Tool:
        tool = TemplateWriter().write(workflow, cases)
        *lines, last = tool.program.split("\n\n\nif __name__")[0].splitlines()
        within = last[: len(last) - len(last.lstrip())]
        slipped = f"{within}if sum(map(ord, json.dumps(v))) % 4: {last.strip()}"
        end = tool.program[len("\n".join([*lines, last])) :]
        return replace(tool, program="\n".join([*lines, slipped]) + end)


async def recorded(chore: Chore, seed: int, tasks: int, folder: Path) -> dict[str, Trace]:
    traces = {}
    diary = Diary()
    for task in stream(seed, tasks, OFTEN, (chore,)):
        tree = await make_tree(task.project, folder / str(task.number))
        done = await work(task, tree, Alone(), diary)
        traces[done.trace.session] = done.trace
    return traces


def mined(traces: dict[str, Trace], folder: Path) -> list[Candidate]:
    database = Database(folder / "memory.db", also=[WORKFLOWS])
    try:
        with database.writing() as execute:
            store.keep(execute, 1, mine(traces.values()), traces.values())
            return candidates(execute, 1, traces.get)
    finally:
        database.close()


async def judged(
    candidate: Candidate, traces: dict[str, Trace], writer: TemplateWriter | Slip, at_once: int
) -> Judged:
    began = time.monotonic()
    replayer = Replayer(Budget(at_once=at_once))
    verdict = await judge(candidate, traces.get, writer, replayer=replayer)
    held_out = len(candidate.held_out) + len(candidate.unfit)
    return Judged(verdict, time.monotonic() - began, held_out)


async def _chore(chore: Chore, seed: int, args: argparse.Namespace) -> list[Judged]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        traces = await recorded(chore, seed, args.tasks, folder / "trees")
        found = mined(traces, folder)
        good = []
        for candidate in found:
            right = await judged(candidate, traces, TemplateWriter(), args.at_once)
            wrong = await judged(candidate, traces, Slip(), args.at_once)
            good.append(right)
            _tell(chore, seed, candidate, right, wrong)
        if not found:
            print(f"{chore.name:10} {seed:4}  no candidate")
        return good


def _tell(chore: Chore, seed: int, candidate: Candidate, right: Judged, wrong: Judged) -> None:
    replays = right.verdict.replays
    each = right.seconds / max(1, len(replays))
    print(
        f"{chore.name:10} {seed:4} {right.held_out:8} {len(candidate.unfit):5} {len(replays):8}"
        f" {right.verdict.replayable:10.0%} {each:8.2f} {right.seconds:7.1f}  {right.verdict.decided:9}"
        f" {wrong.verdict.decided} after {len(wrong.verdict.replays)}",
        flush=True,
    )
    if right.verdict.decided != "promoted":
        print(f"    {right.verdict.why}")
        for (equal, why), count in Counter((r.equal, r.why) for r in replays).most_common(4):
            print(f"    {count} × {equal} {why}")


async def _all(args: argparse.Namespace) -> None:
    print(
        "chore      seed held out unfit replayed replayable  s/case  s/tool  decided   with a slip"
    )
    every: list[Judged] = []
    chores = [chore for chore in CHORES if not args.chores or chore.name in args.chores]
    for seed in range(args.seeds):
        for chore in chores:
            every += await _chore(chore, seed, args)
    cases = [replay for one in every for replay in one.verdict.replays]
    if cases:
        seconds = sum(one.seconds for one in every)
        known = sum(case.equal is not None for case in cases)
        print(
            f"{known} of {len(cases)} held-out cases could be replayed ({known / len(cases):.1%});"
            f" {seconds / len(cases):.2f} s a case, {seconds / len(every):.1f} s a tool"
        )


def _chances() -> None:
    print(f"right in   once at 21   with every case up to {MOST}")
    for right in (0.7, 0.8, 0.9, 0.95, 0.99):
        print(f"{right:8.0%} {right**21:12.2%} {chance_of_passing(right, MOST):25.2%}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.foundry.judging", description=__doc__)
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--chores", nargs="*", default=[])
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--chance", action="store_true")
    args = parser.parse_args()
    if args.chance:
        _chances()
    else:
        asyncio.run(_all(args))


if __name__ == "__main__":
    main()
