"""What advice is worth to a domain's own agent: none, another task's, and the oracle's.

    python -m bench.advice [--domain baba] [--split train] [--tasks 0] [--seeds 1] [--json]

Mean reward over the tasks of a split; `planned` is the share of tasks that the oracle has advice
for. Figures are set beside the oracle's as a ratio. Advice is given directly, with no memory.
"""

import argparse
import asyncio
import json
from statistics import fmean

from metamem.core import registry
from metamem.core.protocols import Domain
from metamem.evaluation.following import following


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--domain", default="baba")
    parser.add_argument("--split", default="train")
    parser.add_argument("--tasks", type=int, default=0, help="0: all of the split")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    domain: Domain = registry.create("domains", given.domain)
    tasks = list(domain.tasks(given.split))[: given.tasks or None]
    planned = fmean(bool(domain.oracle(task)) for task in tasks)
    found = asyncio.run(following(domain, domain.agent, tasks, given.seeds))
    if given.json:
        rewards = {"none": found.none, "another task's": found.stranger, "oracle": found.oracle}
        print(
            json.dumps(
                {"domain": given.domain, "agent": found.agent, "planned": planned, **rewards}
            )
        )
        return
    print(f"{given.domain}, {given.split}, agent {found.agent}; oracle advises {planned:.1%}")
    for name, reward in (
        ("none", found.none),
        ("another task's", found.stranger),
        ("oracle", found.oracle),
    ):
        print(f"{name:16} {reward:.3f}  {reward / max(found.oracle, 1e-9):.2f} of oracle")


if __name__ == "__main__":
    main()
