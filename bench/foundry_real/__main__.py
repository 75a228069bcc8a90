"""Foundry on public recorded sessions: what it finds, and how much of it is right.

    python -m bench.foundry_real --data FOLDER [--seed 1] [--samples FOLDER] [--checked FILE …] [--without FILE …]

FOLDER (or METAMEM_REAL_DATA) holds what was fetched, which is never part of this project:
`terminal-bench-leaderboard/…/sessions/agent.log` with `results.json` beside (runs of mini-swe-agent), and
`tau-bench/historical_trajectories/gpt-4o-airline.json`. `--samples` writes 50 resolutions and 50 places of
workflows to be judged by hand; `--checked` reads judgements (id, verdict, reason) and prints the precision
of the same sample with its exact interval of 95 %. `--without` leaves out what those files judged: what the
rules were mended by is no proof of them.
"""

import argparse
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.foundry_real import tau, terminal
from bench.foundry_real.finding import Done, Link, done, links, show_done, show_link
from bench.foundry_real.judging import precision, read_judged, reasons, sampled
from metamem.foundry.words import Trace

_TERMINAL = "terminal-bench-leaderboard"
_TAU = "tau-bench/historical_trajectories/gpt-4o-airline.json"


def main() -> None:
    args = _arguments()
    judged = {name: said for path in args.checked for name, said in read_judged(path).items()}
    used = {name for path in args.without for name in read_judged(path)}
    sets: dict[str, list[Trace]] = {
        "terminal-bench": terminal.read_traces(args.data / _TERMINAL),
        "tau-bench": tau.read_traces(args.data / _TAU),
    }
    resolved: dict[str, str] = {}
    told: set[str] = set()
    places: dict[str, str] = {}
    for name, traces in sets.items():
        uses = sum(len(trace.uses) for trace in traces)
        print(f"== {name}: {len(traces)} sessions, {uses} uses", flush=True)
        began = time.perf_counter()
        found = links(traces)
        _failures(found, time.perf_counter() - began)
        told |= {one.id for one in found if one.told}
        resolved |= {one.id: show_link(one) for one in found if one.kind != "open"}
        began = time.perf_counter()
        carried = done(traces)
        _workflows(carried, time.perf_counter() - began)
        places |= {one.id: show_done(one) for one in carried}
    for what, shown in (("resolutions", resolved), ("workflows", places)):
        fresh = {name: text for name, text in shown.items() if name not in used}
        _sample(what, fresh, args, judged, told)


def _failures(found: Sequence[Link], seconds: float) -> None:
    kinds = Counter(one.kind for one in found)
    signatures = {one.found.signature.id for one in found}
    counts = ", ".join(f"{kinds[k]} {k}" for k in ("changed", "step", "repair", "again", "open"))
    several = sum(n > 1 for n in Counter(one.found.signature.id for one in found).values())
    print(
        f"failures {len(found)}, signatures {len(signatures)} ({several} met more than once): {counts};"
        f" {sum(bool(one.told) for one in found)} can be told ({seconds:.1f} s)"
    )


def _workflows(carried: Sequence[Done], seconds: float) -> None:
    found = {one.workflow.id: one.workflow for one in carried}
    print(f"workflows {len(found)}, carried out {len(carried)} times ({seconds:.1f} s)")
    for workflow in found.values():
        mine = workflow.occurrences
        optional = sum(step.optional for step in workflow.steps)
        loops = sum(bool(step.each) for step in workflow.steps)
        flows = sum(p.flow is not None for p in workflow.parameters)
        print(
            f"  {workflow.id[:8]}: {len({o.session for o in mine})} sessions, {len(mine)} times,"
            f" {len(workflow.steps)} steps ({optional} optional, {loops} loops),"
            f" {len(workflow.parameters)} parameters ({flows} from outputs),"
            f" {sum(o.success for o in mine)} well"
        )


def _sample(
    what: str,
    shown: Mapping[str, str],
    args: argparse.Namespace,
    judged: dict[str, tuple[str, str]],
    told: set[str],
) -> None:
    chosen = sampled(shown, args.seed, args.most)
    if args.samples is not None:
        args.samples.mkdir(parents=True, exist_ok=True)
        path = args.samples / f"{what}-{args.seed}.txt"
        path.write_text("\n\n".join(shown[one] for one in chosen) + "\n")
        print(f"{len(chosen)} of {len(shown)} {what} to judge: {path}")
    if judged:
        known = [one for one in chosen if one in judged]
        print(f"{what}, seed {args.seed}: {precision(known, judged).text}", end="")
        print(f" ({len(chosen) - len(known)} not judged)" if len(known) < len(chosen) else "")
        if of_told := [one for one in known if one in told]:
            print(f"  of those that can be told: {precision(of_told, judged).text}")
        for reason, times in reasons(known, judged).most_common():
            print(f"  wrong {times}: {reason}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    given = os.environ.get("METAMEM_REAL_DATA")
    parser.add_argument("--data", type=Path, default=given, required=given is None)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=50)
    parser.add_argument("--samples", type=Path)
    parser.add_argument("--checked", type=Path, nargs="*", default=[])
    parser.add_argument("--without", type=Path, nargs="*", default=[])
    args = parser.parse_args()
    args.data = Path(args.data)
    return args


if __name__ == "__main__":
    main()
