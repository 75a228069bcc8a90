"""Does it help? Agents without a model on streams of related tasks: with the memory service, without.

python -m bench.helps                  all streams; goes on where it was stopped
python -m bench.helps --streams home   some of: home, talks, coding, coding-merged
python -m bench.helps --streams locomo --locomo FILE   questions of a file in the format of LoCoMo
python -m bench.helps --quick          a few tasks of each, to see that it works
"""

import argparse
import asyncio
import inspect
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import cast

from bench import helps_coding, helps_home, helps_stream, helps_talks
from bench.helps_stream import Row, Stream, run
from metamem.core.cache import cache_folder
from metamem.core.ids import content_id
from metamem.evaluation.statistics import Comparison, holm_corrected, paired_comparison
from metamem.service import service
from metamem.service.recall.ranker import Ranker


@dataclass(frozen=True, slots=True)
class Size:
    """How much of a stream, and what it is made of."""

    quick: bool
    cache: str  # of test runs
    locomo: str = ""  # a file that the user brings


Work = tuple[str, int, Size, Path]  # stream, seed, size, file of rows
NAMES = ("home", "talks", "coding", "coding-merged", "locomo")
USUAL = NAMES[:3]
HOMES = 1000  # the first one; what the notes of homes look like was decided on others
CONDITIONS = {
    "none": "not attached",
    "empty": "attached, nothing lived through",
    "attached": "attached",
    "fenced": "attached, as the service writes it",
    "plain": "attached, the goal itself is the question",
    "ways": "attached, told how others were done too",
    "evidence": "attached, raw sessions alone",
    "other": "attached to another's memory",
    "alike": "attached to a similar one's memory",
    "fts5": "FTS5 over the same lines",
    "hindsight": "told all other repairs of the project",
    "oracle": "told by one who knows",
}


def stream(name: str, size: Size) -> Stream:
    """A stream at its full or its small size."""
    if name == "home":
        homes, days = (3, 6) if size.quick else (12, 20)
        return helps_home.Home(homes, days, first=HOMES)
    if name == "talks":
        return helps_talks.Talks("test", 2 if size.quick else 10)
    if name == "locomo":
        seen = cast("list[str]", Ranker.load().made["locomo"])
        return helps_talks.Talks("test", 3, data=size.locomo, without=seen)
    most = 3 if size.quick else 18
    return helps_coding.Coding(("test",), most, size.cache, merged=name == "coding-merged")


def unit(work: Work) -> list[Row]:
    """One stream with one seed, in a process of its own."""
    name, seed, size, path = work
    return asyncio.run(run(stream(name, size), seed, path))


def _done(work: Sequence[Work], workers: int) -> Iterator[list[Row]]:
    if workers == 1:
        yield from map(unit, work)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(unit, work)


def _seeds(name: str, wanted: int, *, quick: bool) -> int:
    """Nothing is left to chance in talks; a test run of code takes long."""
    if name in ("talks", "locomo") or quick:
        return 1
    return wanted or (2 if name.startswith("coding") else 3)


def code(name: str) -> str:
    """Names what a stream's rows depend on, so that those of other code are never mixed in."""
    talks = helps_talks
    own = {"home": helps_home, "talks": talks, "locomo": talks}.get(name, helps_coding)
    files = [Path(inspect.getfile(module)) for module in (helps_stream, own)]
    files += sorted(p for p in Path(inspect.getfile(service)).parent.rglob("*") if p.is_file())
    return content_id([p.read_bytes().hex() for p in files if p.suffix in (".py", ".json")])[:10]


# --- what came out --------------------------------------------------------------------------


def by_task(rows: Sequence[Row], condition: str, what: str = "reward") -> dict[str, float]:
    """The mean of each task over its seeds."""
    values: dict[str, list[float]] = {}
    for row in rows:
        if row.condition == condition:
            values.setdefault(f"{row.group} {row.task}", []).append(getattr(row, what))
    return {task: fmean(found) for task, found in values.items()}


def table(rows: Sequence[Row], conditions: Sequence[str]) -> list[str]:
    """A line for each condition, compared with the agent that is not attached."""
    none = by_task(rows, "none")
    compared = holm_corrected(
        {c: paired_comparison(by_task(rows, c), none) for c in conditions if c != "none"}
    )
    lines = [
        f"{'':42} reward gain [95 %]             p(Holm)  better/worse   steps  told  read  read per task done"
    ]
    for condition in conditions:
        own = by_task(rows, condition)
        costs = [
            fmean(by_task(rows, condition, what).values()) for what in ("steps", "advice", "read")
        ]
        gain = " " * 44
        if condition != "none":
            found = compared[condition]
            better = sum(own[task] > none[task] for task in own)
            worse = sum(own[task] < none[task] for task in own)
            gain = f"{_interval(found)}  {found.p_holm:7.4f}  {better:5}/{worse:<5}"
        lines.append(
            f"{CONDITIONS[condition]:42} {fmean(own.values()):.3f}  {gain}"
            f"  {costs[0]:5.1f}  {costs[1]:4.0f}  {costs[2]:4.0f}  {costs[2] / fmean(own.values()):9.0f}"
        )
    return lines


def specific(rows: Sequence[Row]) -> str:
    """What one's own memory is worth beyond another's."""
    found = paired_comparison(by_task(rows, "attached"), by_task(rows, "other"))
    return f"own memory against another's: {_interval(found)}, p {found.p_permutation:.4f}"


def groups(rows: Sequence[Row]) -> str:
    """The gain with the group as the unit: tasks of one group share a memory and its luck."""
    means = {c: _by_group(rows, c) for c in ("attached", "none")}
    found = paired_comparison(means["attached"], means["none"])
    each = ", ".join(f"{means['attached'][g] - means['none'][g]:+.2f}" for g in means["none"])
    return f"by group: {_interval(found)}, p {found.p_permutation:.4f} over {found.n} ({each})"


def growth(rows: Sequence[Row]) -> str:
    """The gain in each third of the stream: a memory that learns helps more and more."""
    stages = max(row.stage for row in rows) + 1
    told = []
    for third in range(3):
        part = [r for r in rows if third * stages <= 3 * r.stage < (third + 1) * stages]
        gain = fmean(by_task(part, "attached").values()) - fmean(by_task(part, "none").values())
        told.append(f"{gain:+.3f}")
    return f"gain in the first, second and last third of the stream: {', '.join(told)}"


def kinds(rows: Sequence[Row], conditions: Sequence[str]) -> list[str]:
    names = sorted({row.kind for row in rows})
    lines = []
    for condition in conditions:
        means = []
        for kind in names:
            own = by_task([row for row in rows if row.kind == kind], condition)
            means.append(f"{kind} {fmean(own.values()):.2f}")
        lines.append(f"  {condition:10} {', '.join(means)}")
    return lines


def _interval(found: Comparison) -> str:
    gain, low, high = (round(value, 3) + 0.0 for value in (found.gain, found.low, found.high))
    return f"{gain:+.3f} [{low:+.3f}, {high:+.3f}]"


def _by_group(rows: Sequence[Row], condition: str) -> dict[str, float]:
    names = sorted({row.group for row in rows})
    return {g: fmean(by_task([r for r in rows if r.group == g], condition).values()) for g in names}


def told(name: str, rows: Sequence[Row], conditions: Sequence[str], seeds: int) -> list[str]:
    tasks = {(row.group, row.task) for row in rows}
    owners = {row.group for row in rows}
    lines = [f"== {name}: {len(tasks)} tasks of {len(owners)} groups, {seeds} seeds"]
    lines += table(rows, conditions)
    lines += [specific(rows), groups(rows)]
    if any(row.lessons or row.turns for row in rows):
        lines.append(growth(rows))
    shown = [c for c in conditions if c in ("none", "attached", "ways", "fts5", "other", "oracle")]
    return [*lines, *kinds(rows, shown)]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--streams", nargs="+", choices=NAMES, default=list(USUAL))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int, default=0, help="default: 3, and 2 for coding")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--folder", type=Path, help="where rows are kept")
    parser.add_argument("--locomo", default="", help="a file in the format of LoCoMo")
    chosen = parser.parse_args(arguments)
    if "locomo" in chosen.streams and not chosen.locomo:
        parser.error("the stream locomo needs --locomo FILE")
    base = cache_folder() or Path(".metamem-cache")
    folder = chosen.folder or base / "helps"
    folder.mkdir(parents=True, exist_ok=True)
    size = Size(chosen.quick, str(base), chosen.locomo)
    began = time.perf_counter()
    seeds = {name: _seeds(name, chosen.seeds, quick=chosen.quick) for name in chosen.streams}
    work = [
        (
            name,
            seed,
            size,
            folder / f"{name}-{content_id(size.quick, code(name))[:10]}-{seed}.jsonl",
        )
        for name in chosen.streams
        for seed in range(seeds[name])
    ]
    rows: dict[str, list[Row]] = {name: [] for name in chosen.streams}
    for (name, *_), found in zip(work, _done(work, chosen.workers), strict=True):
        rows[name] += found
    for name, found in rows.items():
        played = stream(name, size)
        print("\n".join(told(name, found, played.conditions, seeds[name])))
        if isinstance(played, helps_talks.Talks):
            whole = fmean(map(played.whole, played.groups()))
            print(
                f"whoever reads the whole conversation for each question reads {whole:.0f} tokens"
            )
        print(flush=True)
    print(f"{time.perf_counter() - began:.0f} s; rows in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
