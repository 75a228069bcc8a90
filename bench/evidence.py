"""Does learning help? The tables of docs/evidence.md and docs/evidence-tables.md, from whole learning runs.

    python -m bench.evidence [SERIES ...] [--seeds N] [--jobs N] [--workers N] [--data FOLDER]
                             [--designs N] [--home FOLDER] [--kept FOLDER] [--tables] [--earlier]
                             [--write FILE] [--json]

A series is a domain under one rule of asking, one run for each seed; all of them where none is named.
`published` needs --data, the folder of ALFWorld's games (json_2.1.1). With --jobs so many runs are
played at once, each by --workers processes.

One resumable command: every run has a folder of its own, what is finished is not played again, and
what was stopped goes on where it was. What came of a run also goes to --kept, which lies beside the
docs: a run counts as finished there as long as the code that it depends on is the same. Each seed is
a search of its own with its own collected episodes. Results are printed as they are, failures
included; runs that are missing are named, and those of an earlier state of the code.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import metamem
from bench import evidence_kept
from bench.evidence_kept import Kept
from bench.evidence_tables import page, tables
from metamem.core.ids import short
from metamem.core.progress import Silent
from metamem.evaluation.jobs import Spec
from metamem.evaluation.rules import Rules, asking


@dataclass(frozen=True, slots=True)
class Series:
    """Runs that differ in their seed alone."""

    domain: str
    seeds: int = 3
    data: str = ""
    ask: str = "once"


PUBLISHED = "published"
SERIES: Mapping[str, Series] = {
    "generated": Series("alfworld", 5, "generated"),
    PUBLISHED: Series("alfworld", 5),
    "baba": Series("baba"),
    "dialogue": Series("dialogue"),
    "textworld": Series("textworld"),
    "coding": Series("coding"),
    "minihack": Series("minihack"),
    "minihack-when": Series("minihack", ask="when"),
    "textworld-when": Series("textworld", ask="when"),
    "seventh": Series("bench/seventh/domain.py:Workyard"),
}


class Lines(Silent):
    def phase(self, name: str, total: int = 0) -> None:
        print(f"  {name} ({total})" if total else f"  {name}", flush=True)


# --- playing -------------------------------------------------------------------------------------


def place(home: Path, label: str, seed: int) -> Path:
    """A run goes on with the code that it was begun with, and with no other."""
    return home / f"{label}-{seed}-{short(evidence_kept.state(SERIES[label].domain))}"


def play(label: str, seed: int, given: argparse.Namespace) -> None:
    """One run to its end, in this process; what came of it lies in its folder."""
    series, folder = SERIES[label], place(given.home, label, seed)
    data = given.data if label == PUBLISHED else series.data
    folder.mkdir(parents=True, exist_ok=True)
    with evidence_kept.counted(folder):
        result = metamem.learn(
            series.domain,
            run=f"{label}-{seed}",
            home=folder,
            progress=Lines(),
            executor=Spec("local", {"workers": given.workers} if given.workers else {}),
            domain_settings={"data": data} if data else {},
            rules=Rules(**asking(series.ask)),
            seed=seed,
            **({"designs": given.designs} if given.designs else {}),
        )
    spent = evidence_kept.computed(folder)
    evidence_kept.keep(given.kept, label, seed, series.domain, result.summary, spent)


async def play_all(wanted: Sequence[tuple[str, int]], given: argparse.Namespace) -> None:
    """Every run in a process of its own, so many at a time; one that fails does not stop others."""
    places = asyncio.Semaphore(given.jobs)
    passed = [f"--{name}={getattr(given, name)}" for name in ("home", "kept", "data", "workers")]
    if given.designs:
        passed.append(f"--designs={given.designs}")

    async def one(label: str, seed: int) -> None:
        folder = place(given.home, label, seed)
        async with places:
            folder.mkdir(parents=True, exist_ok=True)
            print(f"{label}, seed {seed}: begun", file=sys.stderr, flush=True)
            with (folder / "log").open("ab") as log:
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "bench.evidence", label, f"--only-seed={seed}"),
                    *passed,
                    stdout=log,
                    stderr=log,
                )
                try:
                    code = await process.wait()
                except asyncio.CancelledError:
                    process.terminate()
                    await process.wait()
                    raise
            ended = "finished" if code == 0 else f"failed, see {folder / 'log'}"
            print(f"{label}, seed {seed}: {ended}", file=sys.stderr, flush=True)

    await asyncio.gather(*(one(label, seed) for label, seed in wanted))


def finished(
    kept: Path, label: str, seeds: int, earlier: bool = False
) -> tuple[dict[int, Kept], list[int]]:
    """What is there, by seed, and the seeds that are of an earlier state of the code."""
    domain = SERIES[label].domain
    read = {seed: evidence_kept.read(kept, label, seed, domain) for seed in range(seeds)}
    found = {seed: run for seed, run in read.items() if run is not None}
    old = [seed for seed, run in found.items() if not run.present]
    return {seed: run for seed, run in found.items() if run.present or earlier}, old


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("series", nargs="*", metavar="SERIES", help=", ".join(SERIES))
    parser.add_argument("--seeds", type=int, help="of each series; its own number where not given")
    parser.add_argument("--only-seed", type=int, help="play this run here, and tell no tables")
    parser.add_argument("--designs", type=int, help="the domain's own budget where not given")
    parser.add_argument(
        "--data", default=os.environ.get("ALFWORLD_DATA", ""), help="the folder of published games"
    )
    parser.add_argument("--jobs", type=int, default=1, help="runs at once")
    parser.add_argument("--workers", type=int, default=0, help="of each run; one per core if 0")
    parser.add_argument("--home", type=Path, default=Path("bench/results/evidence"))
    parser.add_argument("--tables", action="store_true", help="play nothing, tell what there is")
    parser.add_argument(
        "--kept", type=Path, default=Path("docs/evidence"), help="where what came of runs is kept"
    )
    parser.add_argument(
        "--earlier", action="store_true", help="tell runs of an earlier state of the code as well"
    )
    parser.add_argument("--write", type=Path, help="a file that gets the tables, as a page")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if unknown := sorted(set(given.series) - set(SERIES)):
        parser.error(f"no series {unknown[0]}; known: {', '.join(SERIES)}")
    labels = given.series or list(SERIES)
    if PUBLISHED in labels and not given.data and not given.tables:
        if given.series:
            parser.error("published games need --data FOLDER (see docs/alfworld.md)")
        labels.remove(PUBLISHED)
    if given.only_seed is not None:
        for label in labels:
            play(label, given.only_seed, given)
        return
    seeds = {label: given.seeds or SERIES[label].seeds for label in labels}
    if not given.tables:
        wanted = [(label, seed) for label in labels for seed in range(seeds[label])]
        done = {
            (label, n) for label in labels for n in finished(given.kept, label, seeds[label])[0]
        }
        asyncio.run(play_all([one for one in wanted if one not in done], given))
    found = {}
    for label in labels:
        found[label], old = finished(given.kept, label, seeds[label], given.earlier)
        missing = [str(n) for n in range(seeds[label]) if n not in found[label] and n not in old]
        if missing:
            print(f"{label}: not finished: {', '.join(missing)}", file=sys.stderr)
        if old:
            told = ", ".join(map(str, old))
            print(f"{label}: of an earlier state of the code: {told}", file=sys.stderr)
    found = {label: runs for label, runs in found.items() if runs}
    if given.json:
        told = {
            label: {n: r.summary.to_json() for n, r in runs.items()}
            for label, runs in found.items()
        }
        print(json.dumps(told))
        return
    if given.write:
        given.write.write_text(page(found), encoding="utf-8")
        return
    print(tables(found))


if __name__ == "__main__":
    main()
