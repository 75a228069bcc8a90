"""What short designs make of the parts for thinking, beside no memory and the best human design.

    python -m bench.thinking                          all four worlds, two seeds
    python -m bench.thinking --domain baba --seeds 11 one of them

Mean reward in per cent on the deployment half of train, learned from the other half, in the jail.
The designs are in `bench/thinking_designs`: examples, and no part of the package. The parts were
shaped on train with seed 11; no other split is read. Seeds 0 to 4 are left for searches.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from metamem.api import evaluate
from metamem.core.types import Design

HUMAN = {
    "alfworld": ("object_places", "success_retrieval"),
    "textworld": ("object_places", "trajectory_retrieval"),
    "baba": ("trajectory_retrieval", "success_retrieval"),
    "minihack": ("trajectory_retrieval", "success_retrieval", "action_statistics"),
}
SETTINGS = {"alfworld": {"data": "generated", "train": 200}}
SEEDS = (11, 12)


def examples() -> list[Design]:
    folder = Path(__file__).with_name("thinking_designs")
    return [Design(file.read_text(), name=file.stem) for file in sorted(folder.glob("[a-z]*.py"))]


def table(domain: str, seeds: Sequence[int], home: str) -> dict[str, list[float]]:
    """For each design its mean reward in per cent, one for each seed."""
    designs = ["no_memory", *HUMAN[domain], *examples()]
    names = [d.name if isinstance(d, Design) else d for d in designs]
    rows: dict[str, list[float]] = {name: [] for name in names}
    for seed in seeds:
        found = evaluate(
            designs,
            domain,
            "train",
            home=home,
            seed=seed,
            domain_settings=SETTINGS.get(domain, {}),
        )
        for name, evaluation in zip(names, found, strict=True):
            rows[name].append(100 * fmean(row.reward for row in evaluation.rows))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--domain", choices=sorted(HUMAN), action="append")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    tables = {}
    with tempfile.TemporaryDirectory() as home:
        for domain in given.domain or HUMAN:
            began = time.monotonic()
            tables[domain] = table(domain, given.seeds, home)
            if not given.json:
                print(f"{domain}, train, seeds {given.seeds}, {time.monotonic() - began:.0f} s")
                for name, rewards in tables[domain].items():
                    each = " ".join(f"{reward:6.1f}" for reward in rewards)
                    print(f"  {name:24} {fmean(rewards):6.1f} %   ({each})", flush=True)
    if given.json:
        print(json.dumps(tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())
