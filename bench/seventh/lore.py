"""What there is in a workyard, and what holds in every task of one."""

import random
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from metamem.core.ids import derive_seed

FACTS: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("facts.toml").read_text(encoding="utf-8")
)
HUB: str = FACTS["rooms"]["hub"]
STATIONS: Mapping[str, str] = FACTS["stations"]
CONTROLS: Mapping[str, str] = FACTS["controls"]
RECIPES = {
    (station, frozenset(ingredients)): product
    for product, (station, *ingredients) in FACTS["recipes"].items()
}
MATERIALS: tuple[str, ...] = tuple(m for some in FACTS["materials"].values() for m in some)
PARTS: Sequence[str] = FACTS["parts"]["names"]
TOOLS: Sequence[str] = FACTS["tools"]["names"]
CLOSED: Sequence[str] = FACTS["containers"]["closed"]
CONTAINERS: Sequence[str] = [*FACTS["containers"]["open"], *CLOSED]
DEVICES: Sequence[str] = [*FACTS["devices"]["common"], *FACTS["devices"]["rare"]]
INSTRUMENTS: Sequence[str] = FACTS["assays"]["instruments"]
BOXES: Sequence[str] = FACTS["assays"]["boxes"]
TARGETS: Sequence[str] = FACTS["targets"]["names"]


def kind_of(container: str) -> str:
    """Of `crate 3`: crate."""
    return container.split()[0]


class Lore:
    """What holds in every task of a domain: drawn once, from its seed."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(derive_seed("workyard lore", seed))
        rooms = FACTS["rooms"]["usual"]
        classes = FACTS["assays"]["classes"]

        def dealt(keys: Iterable[str], values: Sequence[str]) -> dict[str, str]:
            """To each key a value, all values about equally often."""
            keys = list(keys)
            dealt = [values[n % len(values)] for n in range(len(keys))]
            return dict(zip(keys, rng.sample(dealt, len(dealt)), strict=True))

        self.control = dealt(STATIONS, list(CONTROLS))
        self.opener = dealt(CLOSED, TOOLS)
        self.part = dealt(DEVICES, PARTS)
        self.tool = dealt(DEVICES, TOOLS)
        self.instrument = dealt(classes, INSTRUMENTS)
        self.box = dealt([m for c in classes for m in FACTS["materials"][c]], BOXES)
        self.container = dealt([*MATERIALS, *PARTS], CONTAINERS)
        fixed = [*STATIONS, *TARGETS, *INSTRUMENTS, *DEVICES, *TOOLS]
        self.room = dealt([*fixed, *MATERIALS, *PARTS, "boxes"], rooms)
        # Some things are never worked at some stations in train: in shift they are.
        pairs = [
            (thing, station)
            for thing in MATERIALS
            for station in STATIONS
            if (station, frozenset([thing])) not in RECIPES
        ]
        rng.shuffle(pairs)
        self.held_back = frozenset(pairs[: len(pairs) // 3])
        self.worked = tuple(sorted(set(pairs) - self.held_back))

    def instrument_for(self, thing: str) -> str:
        return self.instrument[next(c for c, some in FACTS["materials"].items() if thing in some)]
