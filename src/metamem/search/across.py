"""Do different domains need different memories? Each domain's learned design, played in every one.

A column is a domain with a finished run; every design in it is played under that run's own
conditions, so what the run's tables hold already is not played again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from metamem.core.aside import aside
from metamem.core.progress import Progress, Silent
from metamem.core.types import Design, Evaluation
from metamem.designs.library import load
from metamem.evaluation.evaluator import Evaluator
from metamem.evaluation.jobs import Executor
from metamem.evaluation.statistics import paired_comparison, t_interval
from metamem.search.config import LearnConfig
from metamem.search.table import LEARNED
from metamem.store.archive import Archive, RunRecord


@dataclass(frozen=True, slots=True)
class Column:
    """A domain and the run whose design speaks for it."""

    domain: str
    run: RunRecord
    learned: str
    promoted: bool

    def conditions(self, archive: Archive, split: str) -> str:
        """The conditions of the run's own table, which everything in this column shares."""
        row = next(r for r in self.run.summary["tables"][split] if r["name"] == LEARNED)
        evaluation = archive.evaluation(row["evaluation"])
        assert evaluation is not None
        return evaluation.fingerprint.conditions

    @property
    def humans(self) -> tuple[str, ...]:
        rows = self.run.summary["tables"]["test"]
        return tuple(row["name"] for row in rows if row["human"])


def columns(archive: Archive, domains: Sequence[str] = ()) -> list[Column]:
    """For each domain the newest finished run with a design; a promoted one goes first."""
    best: dict[str, Column] = {}
    for run in archive.runs():
        if run.state != "finished" or not run.summary.get("learned"):
            continue
        name = run.config["domain"]["name"]
        found = Column(name, run, run.summary["learned"], bool(run.summary["promoted"]))
        if name not in best or found.promoted >= best[name].promoted:
            best[name] = found
    wanted = list(domains) or sorted(best)
    return [best[name] for name in wanted if name in best]


def contestants(found: Sequence[Column]) -> dict[str, Design | str]:
    """Name → design (or its id): all human designs of these domains, then what each learned."""
    humans = dict.fromkeys(name for column in found for name in column.humans)
    return {name: load(name) for name in humans} | {
        f"learned for {column.domain}": column.learned for column in found
    }


async def play_across(
    archive: Archive,
    executor: Executor,
    found: Sequence[Column],
    split: str,
    progress: Progress | None = None,
) -> None:
    """Evaluate every contestant in every column; what is there already costs nothing."""
    watch = progress or Silent()
    designs = contestants(found)
    watch.phase(f"playing {split} across domains", len(found) * len(designs))
    for column in found:
        config = LearnConfig.from_json(column.run.config)
        evaluator = Evaluator(
            archive,
            executor,
            config.setup(rules=replace(config.rules, repeats=config.final_repeats)),
            run_id=column.run.id,
            on_case=lambda row: watch.cases(),
        )
        for design in designs.values():
            made = await aside(archive.design, design) if isinstance(design, str) else design
            await evaluator.evaluate(made, split, purpose="across domains")
            watch.advance()


def cross_table(archive: Archive, found: Sequence[Column], split: str) -> dict[str, Any]:
    """What the archive holds: a row a design, a cell a domain, and who wins where."""
    designs = contestants(found)
    played: dict[str, dict[str, Evaluation]] = {}
    for column in found:
        conditions = column.conditions(archive, split)
        for name, design in designs.items():
            design_id = design if isinstance(design, str) else design.id
            held = archive.evaluations(design_id, split, conditions)
            if held and held[0].complete:
                played.setdefault(column.domain, {})[name] = held[0]
    return {
        "split": split,
        "domains": [
            {
                "name": column.domain,
                "run": column.run.id,
                "learned": column.learned,
                "promoted": column.promoted,
                "complete": len(played.get(column.domain, {})) == len(designs),
                "winner": _winner(played.get(column.domain, {})),
                "home": _at_home(column.domain, played.get(column.domain, {})),
            }
            for column in found
        ],
        "rows": [
            {
                "name": name,
                "cells": {
                    domain: _cell(cells[name]) for domain, cells in played.items() if name in cells
                },
            }
            for name in designs
        ],
    }


def _cell(evaluation: Evaluation) -> dict[str, float]:
    rewards = list(evaluation.by_task().values())
    low, high = t_interval(rewards, 0.95)
    return {"mean": evaluation.reward, "low": max(0.0, low), "high": min(1.0, high)}


def _winner(cells: dict[str, Evaluation]) -> str:
    return max(cells, key=lambda name: cells[name].reward) if cells else ""


def _at_home(domain: str, cells: dict[str, Evaluation]) -> dict[str, Any] | None:
    """The domain's own learned design against the best of those learned elsewhere."""
    own = cells.get(f"learned for {domain}")
    guests = {n: e for n, e in cells.items() if n.startswith("learned for ") and e is not own}
    if own is None or not guests:
        return None
    best = _winner(guests)
    found = paired_comparison(own.by_task(), guests[best].by_task())
    return {"against": best, "gain": found.gain, "p": found.p_permutation}
