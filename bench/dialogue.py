"""What memory is worth in dialogue: human designs, silence and the oracle.

python -m bench.dialogue                   own conversations, the test split
python -m bench.dialogue --split shift     another split
python -m bench.dialogue --data FILE       a file in the format of LoCoMo
"""

import argparse
import asyncio
import json
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from metamem.core.protocols import Embedder
from metamem.core.types import Design, Experience, Query, Task, render_advice
from metamem.designs import library
from metamem.designs.jailed import Jail
from metamem.domains.dialogue.domain import DialogueDomain
from metamem.models import default_embedder

SEARCH = "line_search"  # what a memory must beat to have learned more than to search


async def replies(
    jail: Jail,
    domain: DialogueDomain,
    design: Design,
    tasks: Sequence[Task],
    embedder: Embedder,
    lives: Sequence[Sequence[Experience]] = (),
) -> dict[str, str]:
    """What a design tells for each task, from a memory for each conversation that has studied
    these lives before."""
    groups: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        groups[task.group].append(task)
    told = {}
    scholar = await jail.open(design, seed=0, embedder=embedder)
    for life in lives:
        await scholar.study_encoded(json.dumps([e.to_json() for e in life]))
    for group, own in groups.items():
        memory = await scholar.fork()
        try:
            for batch in domain.history(group):
                await memory.update(batch)
            for task in own:
                seen = domain.world(task, 0).reset()
                told[task.id] = render_advice(await memory.retrieve(Query(task.goal, seen.text)))
        finally:
            await memory.close()
    await scholar.close()
    return told


def figures(
    domain: DialogueDomain, tasks: Sequence[Task], told: dict[str, str]
) -> dict[str, float]:
    """Mean reward over all tasks, over those that have an answer, and by kind."""
    rewards = {t.id: domain.world(t, 0).step(told[t.id]).reward for t in tasks}
    kinds = sorted({t.kind for t in tasks})
    by_kind = {kind: fmean(rewards[t.id] for t in tasks if t.kind == kind) for kind in kinds}
    answerable = [rewards[t.id] for t in tasks if t.data["question"].answerable]
    return {"all": fmean(rewards.values()), "answerable": fmean(answerable), **by_kind}


async def measure(domain: DialogueDomain, split: str) -> dict[str, dict[str, float]]:
    tasks, embedder = domain.tasks(split), default_embedder()
    designs = list(library.rivals(domain.baselines(), model=False).values())
    found = {"oracle": figures(domain, tasks, {t.id: domain.oracle(t) for t in tasks})}
    async with Jail() as jail:
        for design in designs:
            began = time.perf_counter()
            told = await replies(jail, domain, design, tasks, embedder)
            seconds = time.perf_counter() - began
            found[design.name] = {**figures(domain, tasks, told), "seconds": seconds}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="generated", help="a file in the format of LoCoMo")
    parser.add_argument("--split", default="test")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    domain = DialogueDomain(data=chosen.data)
    found = asyncio.run(measure(domain, chosen.split))
    best = max(library.names(), key=lambda name: found.get(name, {}).get("all", 0.0))
    result = {
        "split": chosen.split,
        "tasks": len(domain.tasks(chosen.split)),
        "best_human": best,
        "best_human_to_oracle": round(found[best]["all"] / found["oracle"]["all"], 3),
        "search_to_oracle": round(found[SEARCH]["all"] / found["oracle"]["all"], 3),
        "silence_to_oracle": round(found["no_memory"]["all"] / found["oracle"]["all"], 3),
        "designs": {
            name: {k: round(v, 3) for k, v in values.items()} for name, values in found.items()
        },
    }
    if chosen.json:
        print(json.dumps(result))
        return 0
    print(f"{result['tasks']} questions of {chosen.split}, {domain.describe().split('Data: ')[1]}")
    for name, values in found.items():
        print(f"{name:22}", "  ".join(f"{k} {v:.3f}" for k, v in values.items()))
    print(
        f"best human design ({best}) against the oracle: {result['best_human_to_oracle']};"
        f" search by words: {result['search_to_oracle']}; silence: {result['silence_to_oracle']}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
