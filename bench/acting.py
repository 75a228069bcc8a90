"""What is missing where memory is asked once: MiniHack's layers, asked once and asked while acting.

    python -m bench.acting [--seeds 100 101 102] [--ask when]

Mean reward in per cent on the deployment half of train (50 tasks), for each seed. Beside no memory, a human design and the
design that a coding agent wrote: a search for what wins (S), what was not tried yet (N), the way to what
stands out (O), alone and together, the first that knows speaks. No other split is read.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean

from metamem.api import evaluate
from metamem.core.types import Design
from metamem.designs.blocks import COMBINE, blocks
from metamem.evaluation.rules import Rules, asking
from metamem.search.recombine import draw
from metamem.search.recombine.genome import Genome, from_block
from metamem.search.recombine.render import render

DOMAIN = "minihack"
LEADS = {"S": "Searched", "N": "NotYetTried", "O": "StandsOut"}
TOGETHER = ("S", "N", "O", "NS", "NO", "SO", "NSO")


def hand_made() -> Iterator[Design]:
    thinks = {block.name: block for block in blocks("think")}
    combine = from_block(next(b for b in blocks(COMBINE) if b.name == "FirstThatKnows"))
    for letters in TOGETHER:
        layers = [draw.plain(thinks[LEADS[letter]]) for letter in letters]
        yield Design(render(Genome([*layers], combine), "A bench."), name=" + ".join(letters))


def table(designs: Sequence[str | Design], ask: str, seeds: Sequence[int], home: str) -> None:
    rules = replace(Rules(), **asking(ask))
    rows: dict[str, list[float]] = {}
    for seed in seeds:
        for design, found in zip(
            designs,
            evaluate(designs, DOMAIN, "train", home=home, seed=seed, rules=rules),
            strict=True,
        ):
            name = design if isinstance(design, str) else design.name
            rows.setdefault(name, []).append(100 * found.reward)
    print(f"\nasked {ask}, seeds {' '.join(map(str, seeds))}")
    for name, rewards in rows.items():
        each = " ".join(f"{reward:.0f}" for reward in rewards)
        print(f"  {name:20} {fmean(rewards):5.1f} %  ({each})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[100, 101, 102])
    parser.add_argument("--ask", default="when", help="beside once: docs/asking.md")
    given = parser.parse_args()
    designs = ["no_memory", "action_statistics", "learned/minihack", *hand_made()]
    with tempfile.TemporaryDirectory() as home:
        for ask in ("once", given.ask):
            table(designs, ask, given.seeds, home)


if __name__ == "__main__":
    main()
