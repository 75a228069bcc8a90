"""What Foundry saves an agent without a model, over the share of repetition in its work.

    python -m bench.foundry [--shares 0 25 50 75] [--tasks 400] [--seeds 2] [--keep FILE]
    python -m bench.foundry --control

What must hold in every seed is `bench.foundry.seeds`. Another Foundry than the product's: --foundry
MODULE:FUNCTION, which makes what `bench.foundry.arms.Foundry` describes, in a folder that it is given. Both arms
get the same tasks, trees and luck; p is that of the sign-flip test over tasks, intervals are of 95 %. *tokens*
are all that the agent reads in a task, each once; *sent* is what a host pays for without a cache: with every
call all that was read before it, without the host's own instructions. A task costs about 0.12 s of CPU in
each arm, and a case that is replayed 0.3 s. With --keep what is finished is kept in a file, and not done again.
"""

import argparse
import asyncio
import importlib
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.foundry.arms import Arm, Change, Making, Pair, mean_arm, row, run_alone, run_pair
from bench.foundry.keeping import Kept, from_json, to_json
from bench.foundry.tasks import stream

SOURCES = ("goal", "listing", "suggestions", "steps", "tools")


def making(named: str) -> Making:
    module, _, function = named.partition(":")
    made: Making = getattr(importlib.import_module(module), function)
    return made


def _arm(arm: Arm) -> str:
    return (
        f"{arm.calls:6.2f} {arm.tokens:7.1f} {arm.sent:7.0f} {arm.success:8.1%} {arm.repeated:9.3f}"
    )


async def _control(args: argparse.Namespace) -> None:
    print("share   calls  tokens    sent  success  repeated   (control arm, per task)")
    for share in args.shares:
        arms = []
        for seed in range(args.seeds):
            with tempfile.TemporaryDirectory() as folder:
                given = stream(seed, args.tasks, share / 100)
                arms.append(Arm.of(await run_alone(given, Path(folder))))
        print(f"{share:4.0f}% {_arm(mean_arm(arms))}", flush=True)


async def _pair(args: argparse.Namespace, share: float, seed: int, kept: Kept) -> Pair:
    key = f"{args.foundry} share {share:g} tasks {args.tasks} seed {seed}"
    known = kept.get(key)
    if known is not None:
        return from_json(known)
    with tempfile.TemporaryDirectory() as folder:
        found = await run_pair(
            making(args.foundry),
            seed,
            args.tasks,
            share / 100,
            Path(folder),
            told=_telling(f"{share:g} %, seed {seed}"),
        )
    kept.put(key, to_json(found))
    return found


def _telling(what: str) -> Callable[[str], None]:
    began = time.monotonic()

    def told(text: str) -> None:
        print(f"  {what}, {text}, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)

    return told


async def _curve(args: argparse.Namespace) -> None:
    kept = Kept(args.keep)
    print("share arm   calls  tokens    sent  success  repeated   tools")
    for share in args.shares:
        found = row(share / 100, [await _pair(args, share, n, kept) for n in range(args.seeds)])
        print(f"{share:4.0f}% off {_arm(found.off)}")
        print(f"      on  {_arm(found.on)}   {found.deployed:5.2f}")
        changes = {"calls": found.calls, "tokens": found.tokens, "sent": found.sent}
        print("      " + "; ".join(f"{name} {_change(each)}" for name, each in changes.items()))
        print(
            f"      success {found.success.mean.statistic:+.1%} (p = {found.success.mean.p:.2g});"
            " tokens a task, off → on: "
            + ", ".join(
                f"{source} {found.read[0].get(source, 0):.0f} → {found.read[1].get(source, 0):.0f}"
                for source in SOURCES
            ),
            flush=True,
        )


def _change(change: Change) -> str:
    return (
        f"{change.relative:+.1%} ({change.low:+.1%} to {change.high:+.1%}, p = {change.mean.p:.2g})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.foundry", description=__doc__)
    parser.add_argument(
        "--foundry",
        default="bench.foundry.product:make",
        help="MODULE:FUNCTION that makes the arm with Foundry",
    )
    parser.add_argument("--shares", type=float, nargs="+", default=[0, 25, 50, 75])
    parser.add_argument("--tasks", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a file in which what is finished is kept")
    parser.add_argument("--control", action="store_true")
    args = parser.parse_args()
    began = time.monotonic()
    asyncio.run(_control(args) if args.control else _curve(args))
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
