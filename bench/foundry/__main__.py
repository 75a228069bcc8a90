"""What Foundry saves an agent without a model, over the share of repetition in its work.

    python -m bench.foundry [--shares 0 25 50 75] [--tasks 400] [--seeds 4]
    python -m bench.foundry --null | --planted | --sabotage [--seeds 100]
    python -m bench.foundry --control

Another Foundry than the product's: --foundry MODULE:FUNCTION, which makes what `bench.foundry.arms.Foundry`
describes, in a folder that it is given. Both arms get the
same tasks, trees and luck; p is that of the sign-flip test over tasks. A command in the jail takes about
20 ms (100 where Python starts): a stream of 400 tasks costs one to two minutes for each arm.
"""

import argparse
import asyncio
import importlib
import tempfile
import time
from pathlib import Path

from bench.foundry.arms import (
    Arm,
    Making,
    crystallised,
    disabled,
    found,
    mean_arm,
    row,
    run_alone,
    run_pair,
)
from bench.foundry.tasks import known_chores, stream


def _making(named: str) -> Making:
    module, _, function = named.partition(":")
    making: Making = getattr(importlib.import_module(module), function)
    return making


def _arm(arm: Arm) -> str:
    return f"{arm.calls:6.2f} {arm.tokens:7.1f} {arm.success:8.1%} {arm.repeated:9.3f}"


async def _control(args: argparse.Namespace) -> None:
    print("share   calls  tokens  success  repeated   (control arm, per task)")
    for share in args.shares:
        arms = []
        for seed in range(args.seeds):
            with tempfile.TemporaryDirectory() as folder:
                given = stream(seed, args.tasks, share / 100)
                arms.append(Arm.of(await run_alone(given, Path(folder))))
        print(f"{share:4.0f}% {_arm(mean_arm(arms))}", flush=True)


async def _curve(args: argparse.Namespace, make: Making) -> None:
    print("share arm   calls  tokens  success  repeated   tools")
    for share in args.shares:
        pairs = []
        for seed in range(args.seeds):
            with tempfile.TemporaryDirectory() as folder:
                pairs.append(await run_pair(make, seed, args.tasks, share / 100, Path(folder)))
        found_here = row(share / 100, pairs)
        print(f"{share:4.0f}% off {_arm(found_here.off)}")
        print(f"      on  {_arm(found_here.on)}   {found_here.deployed:5.2f}")
        print(
            f"      calls {-found_here.fewer_calls:+.1%} (p = {found_here.calls.p:.2g}), tokens "
            f"{found_here.tokens.statistic:+.1f} a task (p = {found_here.tokens.p:.2g}), success "
            f"{found_here.success.statistic:+.1%} (p = {found_here.success.p:.2g})",
            flush=True,
        )


async def _checks(args: argparse.Namespace, make: Making) -> None:
    good = known = 0
    for seed in range(args.seeds):
        chore = known_chores(seed)[0]
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            if args.null:
                tools = await crystallised(make, seed, args.tasks, folder)
                known, good = known + 1, good + (tools == 0)
                print(f"seed {seed}: {tools} tools of nothing", flush=True)
            elif args.planted:
                deployed = await found(make, seed, args.tasks, chore, folder)
                known, good = known + 1, good + deployed
                print(
                    f"seed {seed}: {chore.name} {'found' if deployed else 'NOT found'}", flush=True
                )
            else:
                after = await disabled(make, seed, args.tasks, chore, folder)
                known, good = known + (after is not None), good + (after is not None and after >= 0)
                told = {None: "no tool to spoil", -1: "NOT disabled"}.get(
                    after, f"disabled after {after}"
                )
                print(f"seed {seed}: {chore.name} {told}", flush=True)
    print(f"{good} of {known} as they should be ({args.seeds} seeds)")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.foundry", description=__doc__)
    parser.add_argument(
        "--foundry",
        default="bench.foundry.product:make",
        help="MODULE:FUNCTION that makes the arm with Foundry",
    )
    parser.add_argument("--shares", type=float, nargs="+", default=[0, 25, 50, 75])
    parser.add_argument("--tasks", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=4)
    kind = parser.add_mutually_exclusive_group()
    for name in ("control", "null", "planted", "sabotage"):
        kind.add_argument(f"--{name}", action="store_true")
    args = parser.parse_args()
    began = time.monotonic()
    if args.control:
        asyncio.run(_control(args))
    elif args.null or args.planted or args.sabotage:
        asyncio.run(_checks(args, _making(args.foundry)))
    else:
        asyncio.run(_curve(args, _making(args.foundry)))
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
