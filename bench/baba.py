"""How fast our Baba Is AI is beside the reference, and which share of its levels can be won.

python -m bench.baba                     speed, compared with the reference's recorded figure
python -m bench.baba --solve N           also: N levels of every id, searched for a solution
python -m bench.baba --ceiling           also: every task of every split; how many can be won at all
                                         within the steps, and how many the agent wins when told how
"""

import argparse
import asyncio
import json
import random
import sys
import time
from typing import Any

from metamem.core.types import SPLITS
from metamem.domains.baba.domain import MAX_STEPS, BabaDomain, BabaWorld
from metamem.domains.baba.engine import ACTIONS
from metamem.domains.baba.levels import draw_level, kinds
from metamem.domains.baba.solver import solve
from metamem.evaluation.following import following

RECORDED = 1950.0  # CPU steps per second of the reference with its text, one core, Python 3.11
STEPS = 100
LEVELS = 6  # of each id


def measure() -> dict[str, float]:
    """CPU seconds of drawing levels and of random play with the text of every step."""
    began = time.process_time()
    worlds = [BabaWorld(draw_level(name, seed)) for name in kinds() for seed in range(LEVELS)]
    draw = time.process_time() - began
    rng = random.Random(0)
    began = time.process_time()
    for world in worlds:
        world.reset()
        for _ in range(STEPS):
            if world.step(rng.choice(ACTIONS)).done:
                world.reset()
    play = time.process_time() - began
    return {"per_s": len(worlds) * STEPS / play, "draw_ms": 1e3 * draw / len(worlds)}


def solvable(name: str, count: int) -> dict[str, float]:
    """Shares of an id's levels: won within the cap, proven not to be, given up; and the lengths."""
    found = [solve(draw_level(name, seed), MAX_STEPS) for seed in range(count)]
    lengths = sorted(len(s.actions) for s in found if s.actions)
    return {
        "won": len(lengths) / count,
        "impossible": sum(s.proven and not s.actions for s in found) / count,
        "given_up": sum(not s.proven for s in found) / count,
        "median_steps": lengths[len(lengths) // 2] if lengths else 0,
    }


def ceiling(split: str) -> dict[str, float]:
    """Numbers of a split's tasks: that can be won, proven not to be, given up, won when told how."""
    domain = BabaDomain()
    tasks = domain.tasks(split)
    found = [solve(draw_level(t.data["id"], t.data["seed"]), MAX_STEPS) for t in tasks]
    told = asyncio.run(following(domain, domain.agent, list(tasks), 1))
    return {
        "tasks": len(tasks),
        "can_be_won": sum(bool(s.actions) for s in found),
        "impossible": sum(s.proven and not s.actions for s in found),
        "given_up": sum(not s.proven for s in found),
        "won_when_told": round(told.oracle * len(tasks)),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--solve", metavar="N", type=int, default=0)
    parser.add_argument("--ceiling", action="store_true")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    ours = measure()
    result: dict[str, Any] = {
        "steps_per_s": round(ours["per_s"]),
        "reference_steps_per_s": RECORDED,
        "steps_ratio": round(ours["per_s"] / RECORDED, 1),
        "draw_ms": round(ours["draw_ms"], 3),
    }
    if not chosen.json:
        print(
            f"steps/s with text: {result['steps_per_s']:,} against {RECORDED:,.0f} recorded"
            f" = {result['steps_ratio']} times (CPU time, one core)"
        )
        print(f"drawing a level: {result['draw_ms']} ms")
    if chosen.solve:
        table = {}
        for name in kinds():
            table[name] = shares = solvable(name, chosen.solve)
            if not chosen.json:
                print(
                    f"{name:55} won {shares['won']:5.0%}  impossible {shares['impossible']:5.0%}"
                    f"  given up {shares['given_up']:5.0%}  median {shares['median_steps']}",
                    flush=True,
                )
        result["levels"] = table
        result["won"] = sum(shares["won"] for shares in table.values()) / len(table)
        if not chosen.json:
            print(f"all ids: {result['won']:.0%} can be won in {MAX_STEPS} steps")
    if chosen.ceiling:
        result["splits"] = {split: ceiling(split) for split in SPLITS}
        if not chosen.json:
            for split, row in result["splits"].items():
                print(split, ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in row.items()))
    if chosen.json:
        print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
