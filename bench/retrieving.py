"""What a retrieval costs: CPU time of layers alone and of designs drawn by chance, in this process.

    python -m bench.retrieving [--domain baba] [--seed 100] [--drawn 30]

The memories learn from the collection half of train and are asked about its first sights. First every
layer in its plainest company, the slowest first; then drawn designs; then layers that listen, drawn by
chance: the plain build beside the quick one, which must say the same. No other split is read.
"""

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

from tests.designs.running import Embeds

from metamem.api import evaluate, open_home
from metamem.core.types import Design, Experience, Query
from metamem.designs import Tools
from metamem.designs.blocks import COMBINE, FAMILIES, LISTENERS, blocks
from metamem.designs.inside import load
from metamem.designs.quickening import quickened
from metamem.search.recombine import draw
from metamem.search.recombine.genome import Genome, LayerGene, from_block
from metamem.search.recombine.render import render

ASKED = 12  # first sights of train
TOLD = 12  # rows of a table


class Host(Embeds):
    def log(self, message: str) -> None:
        """What designs have to say is not wanted here."""


def lived(domain: str, seed: int) -> list[Experience]:
    with tempfile.TemporaryDirectory() as home:
        evaluate(["action_statistics"], domain, "train", home=home, seed=seed)
        with open_home(home) as archive:
            (collection,) = archive.collections()
            return [e.experience() for e in archive.collection(collection) or ()]


def made(name: str, layers: Sequence[LayerGene]) -> Design:
    together = from_block(blocks(COMBINE)[0])
    return Design(render(Genome([*layers], together), "A bench."), name=name)


def alone() -> Iterator[Design]:
    for family in FAMILIES:
        for lead in blocks(family.named_by[0]):
            yield made(lead.name, [draw.plain(lead)])


def drawn(count: int) -> Iterator[Design]:
    for seed in range(count):
        genome = draw.fresh(random.Random(seed), {})
        yield Design(render(genome, "A bench."), name=genome.summary)


async def asked(
    source: str, episodes: Sequence[Experience], queries: Sequence[Query]
) -> tuple[list[Any], list[float]]:
    """The answers, and the CPU milliseconds of each."""
    memory = load(source)(Tools(Host(), 0))
    for episode in episodes:
        await memory.update(episode)
    told, took = [], []
    for query in queries:
        began = time.process_time()
        told.append(await memory.retrieve(query))
        took.append(1000 * (time.process_time() - began))
    return told, took


def table(
    title: str, designs: Iterator[Design], episodes: list[Experience], queries: list[Query]
) -> None:
    rows = []
    for design in designs:
        _, took = asyncio.run(asked(quickened(design.source), episodes, queries))
        rows.append((fmean(took), max(took), design.name))
    rows.sort(reverse=True)
    print(f"\n{title}: {fmean(row[0] for row in rows):.1f} ms a retrieval, CPU ({len(rows)})")
    for mean, worst, name in rows[:TOLD]:
        print(f"  {mean:7.1f} ms, worst {worst:7.1f}  {name}", flush=True)


def builds(count: int, episodes: list[Experience], queries: list[Query]) -> int:
    """Answers in which the two builds of listening layers differ; it must be none."""
    differ, plain, quick = 0, list[float](), list[float]()
    for seed in range(count):
        source = made("", [draw.layer(random.Random(seed), {}, LISTENERS)]).source
        told, took = asyncio.run(asked(source, episodes, queries))
        same, sooner = asyncio.run(asked(quickened(source), episodes, queries))
        differ += sum(one != other for one, other in zip(told, same, strict=True))
        plain, quick = [*plain, *took], [*quick, *sooner]
    print(
        f"\nlayers that listen: {fmean(plain):.1f} ms plain, {fmean(quick):.1f} ms quick;"
        f" {differ} of {len(plain)} answers differ"
    )
    return differ


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--domain", default="baba")
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--drawn", type=int, default=30)
    given = parser.parse_args()
    episodes = lived(given.domain, given.seed)
    queries = [Query(e.goal, e.observation, e.actions) for e in episodes[:ASKED]]
    print(f"{given.domain}, seed {given.seed}: {len(episodes)} episodes, {len(queries)} questions")
    table("layers alone", alone(), episodes, queries)
    table("drawn designs", drawn(given.drawn), episodes, queries)
    return int(builds(given.drawn, episodes, queries) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
