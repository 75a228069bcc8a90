"""The tables of docs/evidence.md and docs/evidence-tables.md: what came of whole runs, as Markdown."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from bench.evidence_kept import Kept
from metamem.runs.summary import Summary
from metamem.runs.table import TableRow, best_human

SPLITS = ("test", "shift")
SURE = 0.01
Runs = Mapping[int, Kept]  # by seed


def page(series: Mapping[str, Runs]) -> str:
    """Everything in a page of its own."""
    return f"""# The tables of the evidence

Made by `python -m bench.evidence --tables --write docs/evidence-tables.md` from the runs that lie in
[docs/evidence](evidence), which are all of the present state of the code; what they mean and what is
missing stands in [evidence.md](evidence.md). Figures are per cent of the reward that can be had; p-values are paired
sign-flip tests, Holm-corrected over all rows of a table. *No experience* and *scrambled* are the learned
design fed nothing, and fed the same texts in disorder.

{tables(series)}
"""


def tables(series: Mapping[str, Runs]) -> str:
    parts = [in_short(series, split) for split in SPLITS] if series else []
    for label, runs in series.items():
        parts.append(f"## {label}")
        for split in SPLITS:
            parts.append(show(runs, split))
            parts.append("Against the best human design of each seed:")
            parts.append(against_best_human(runs, split))
    return "\n\n".join(parts)


def in_short(series: Mapping[str, Runs], split: str) -> str:
    """One line for each series: means, and on how many seeds a gain is proven."""
    lines = [
        f"| {split} | no memory | best human | random recombination | learned | scrambled | ceiling |"
        " over best human | over random | promoted | minutes | CPU minutes |",
        "|---" * 12 + "|",
    ]
    for label, runs in series.items():
        kept = list(runs.values())
        every = [one.summary for one in kept]
        tables = [run.tables[split] for run in every]
        human = {row.name for row in every[0].tables[split] if row.human or row.name == "no_memory"}
        best = max(human, key=lambda name: _mean(every, split, name))
        rivals = [best_human(rows) for rows in tables]
        over_best = [found is not None and _won(found[1]) for found in rivals]
        lucky = [run.by_luck(split) for run in every]
        over_luck = [row is not None and _won(row.comparison) for row in lucky]
        random = fmean(row.mean for row in lucky if row is not None)
        ceiling = every[0].tables[split][-1].name
        cells = [
            label,
            _per_cent(_mean(every, split, "no_memory")),
            f"{_per_cent(_mean(every, split, best))} ({best})",
            _per_cent(random),
            f"**{_per_cent(_mean(every, split, 'learned'))}**",
            _per_cent(_mean(every, split, "learned, scrambled")),
            f"{_per_cent(_mean(every, split, ceiling))} ({ceiling})",
            f"{sum(over_best)} of {len(every)}",
            f"{sum(over_luck)} of {len(every)}",
            f"{sum(run.promoted for run in every)} of {len(every)}",
            ", ".join(f"{run.seconds / 60:.0f}" for run in every),
            ", ".join(f"{one.cpu_seconds / 60:.0f}" if one.cpu_seconds else "?" for one in kept),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _won(comparison: Any) -> bool:
    """Whether learned is better than what this compares it with, beyond doubt."""
    return comparison is not None and comparison.gain > 0 and comparison.p_holm < SURE


def _mean(runs: Sequence[Summary], split: str, name: str) -> float:
    return fmean(_row(run, split, name).mean for run in runs)


def _per_cent(share: float) -> str:
    return f"{100 * share:.1f}"


def show(runs: Runs, split: str) -> str:
    """The mean of each row over seeds, and on how many seeds learned beats it."""
    every = [one.summary for one in runs.values()]
    names = [row.name for row in every[0].tables[split]]
    lines = [
        f"| {split}, {every[0].tables[split][0].tasks} tasks | "
        + " | ".join(f"seed {n}" for n in runs)
        + " | mean | learned's gain | p<.01 for learned | tokens |",
        "|---" * (len(runs) + 5) + "|",
    ]
    for name in names:
        rows = [_row(run, split, name) for run in every]
        cells = [_per_cent(row.mean) for row in rows]
        gains = [row.comparison for row in rows if row.comparison is not None]
        won = sum(map(_won, gains))
        lines.append(
            f"| {name} | "
            + " | ".join(cells)
            + f" | {_per_cent(fmean(row.mean for row in rows))} | "
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


def against_best_human(runs: Runs, split: str) -> str:
    lines = [
        "| seed | best human | its % | learned % | gain, 95 % interval | p (Holm) | promoted |",
        "|---|---|---|---|---|---|---|",
    ]
    for seed, run in ((seed, one.summary) for seed, one in runs.items()):
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
