"""Does learning help? The tables of docs/evidence.md, from whole learning runs.

    python -m bench.evidence [--domain alfworld] [--seeds 5] [--designs N] [--data generated|PATH]
                             [--ask once|every:K|when|when:N] [--home FOLDER]

One resumable command: runs that are finished are not played again. Each seed is a search of its
own with its own collected episodes. Results are printed as they are, failures included.
"""

import argparse
import json
import os
from dataclasses import replace
from statistics import fmean

import metamem
from metamem.core.progress import Silent
from metamem.evaluation.jobs import Spec
from metamem.evaluation.rules import Rules, asking
from metamem.runs.summary import Summary
from metamem.runs.table import TableRow, best_human

ONCE = "once"


class Lines(Silent):
    def phase(self, name: str, total: int = 0) -> None:
        print(f"  {name} ({total})" if total else f"  {name}", flush=True)


def gather(
    domain: str, data: str, seeds: int, designs: int | None, ask: str, home: str
) -> list[Summary]:
    label = domain
    if domain == "alfworld":
        label = "generated" if data == "generated" else "official"
    if ask != ONCE:
        label = f"{label}-{ask.replace(':', '-')}"
    budget = {"designs": designs} if designs else {}
    found = []
    for seed in range(seeds):
        print(f"{label}, seed {seed}", flush=True)
        result = metamem.learn(
            domain,
            run=f"evidence-{label}-{seed}",
            home=home,
            progress=Lines(),
            executor=Spec("local"),
            domain_settings={"data": data} if data else {},
            rules=replace(Rules(), **asking(ask)),
            seed=seed,
            **budget,
        )
        found.append(result.summary)
    return found


def show(runs: list[Summary], split: str) -> str:
    """The mean of each row over seeds, and on how many seeds learned beats it."""
    names = [row.name for row in runs[0].tables[split]]
    lines = [
        f"| {split}, {runs[0].tables[split][0].tasks} tasks | "
        + " | ".join(f"seed {n}" for n in range(len(runs)))
        + " | mean | learned's gain | p<.01 for learned | tokens |",
        "|---" * (len(runs) + 5) + "|",
    ]
    for name in names:
        rows = [_row(run, split, name) for run in runs]
        cells = [f"{100 * row.mean:.1f}" for row in rows]
        gains = [row.comparison for row in rows if row.comparison is not None]
        won = sum(c.gain > 0 and c.p_holm < 0.01 for c in gains)
        lines.append(
            f"| {name} | "
            + " | ".join(cells)
            + f" | {100 * fmean(row.mean for row in rows):.1f} | "
            + (
                f"{100 * fmean(c.gain for c in gains):+.1f} | {won} of {len(gains)}"
                if gains
                else "| "
            )
            + f" | {fmean(row.tokens for row in rows):.0f} |"
        )
    return "\n".join(lines)


def _points(share: float) -> str:
    return f"{round(100 * share, 1) + 0.0:+.1f}"  # and no minus before a zero


def against_best_human(runs: list[Summary], split: str) -> str:
    lines = [
        "| seed | best human | its % | learned % | gain, 95 % interval | p (Holm) | promoted |",
        "|---|---|---|---|---|---|---|",
    ]
    for seed, run in enumerate(runs):
        found = best_human(run.tables[split])
        if found is None:  # nothing was learned that could be compared
            lines.append(f"| {seed} | | | | | | no |")
            continue
        best, c = found
        lines.append(
            f"| {seed} | {best.name} | {100 * best.mean:.1f} | {100 * c.mean_a:.1f} | "
            f"{_points(c.gain)} ({_points(c.low)} to {_points(c.high)}) | "
            f"{c.p_holm:.2g} | {'yes' if run.promoted else 'no'} |"
        )
    return "\n".join(lines)


def _row(run: Summary, split: str, name: str) -> TableRow:
    return next(row for row in run.tables[split] if row.name == name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--domain", default="alfworld")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--designs", type=int, help="the domain's own budget where not given")
    parser.add_argument("--data", default="", help="generated, or the folder of published games")
    parser.add_argument("--ask", default=ONCE, help="when memory is asked: docs/asking.md")
    parser.add_argument("--home", default="bench/results/evidence")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    data_sets = [given.data]
    if given.domain == "alfworld" and not given.data:
        published = os.environ.get("ALFWORLD_DATA")
        data_sets = ["generated", published] if published else ["generated"]
    for data in data_sets:
        runs = gather(given.domain, data, given.seeds, given.designs, given.ask, given.home)
        if given.json:
            print(json.dumps([run.to_json() for run in runs]))
            continue
        for split in ("test", "shift"):
            print(f"\n{show(runs, split)}\n\nAgainst the best human design of each seed:\n")
            print(against_best_human(runs, split))


if __name__ == "__main__":
    main()
