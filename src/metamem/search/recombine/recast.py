"""The human designs taken apart: each as the layer of blocks that comes nearest to it.

A whole design can only be used as it is. Written in blocks, each of its choices can be changed.
The layer says much the same as the design, not word for word.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from metamem.designs.blocks import SLOTS, Number, blocks
from metamem.search.recombine.genome import LayerGene, from_block


@dataclass(frozen=True)
class Recast:
    keep: str
    ask: str
    match: str
    phrase: str
    admit: str = "Every"
    trim: str = "AllSteps"
    form: str = "AsItIs"
    forget: str = "Nothing"
    key: str = "Literal"
    prefer: str = "Closest"
    adapt: str = "Unchanged"
    constants: Mapping[str, Number] = field(default_factory=dict)

    def layer(self) -> LayerGene:
        by_name = {(slot, b.name): b for slot in SLOTS for b in blocks(slot)}
        slots = {slot: from_block(by_name[slot, getattr(self, slot)]) for slot in SLOTS}
        gene = LayerGene(slots, dict(self.constants))
        gene.set_slot(slots["keep"])  # draws in the constants that are not given
        return gene


RECASTS: Mapping[str, Recast] = {
    "trajectory_retrieval": Recast(
        "Story",
        "Goal",
        "Nearest",
        "Steps",
        constants={"TOP": 1, "BUDGET": 1500, "NEAREST": 1, "FLOOR": 0.3},
    ),
    "success_retrieval": Recast(
        "Actions",
        "Goal",
        "Nearest",
        "TitledSteps",
        admit="Successes",
        trim="News",
        forget="LongerWays",
        constants={"TOP": 3, "NEAREST": 3, "FLOOR": 0.3, "SHORTEST": 1},
    ),
    "action_statistics": Recast(
        "ActionsByGoalWord",
        "GoalWords",
        "Same",
        "Points",
        form="Kinds",
        prefer="Rewarded",
        constants={"TOP": 5, "DOUBT": 3.0},
    ),
    "object_places": Recast(
        "SeenAfter",
        "GoalWords",
        "Same",
        "Notes",
        form="ObjectsOnly",
        prefer="Distinctive",
        constants={"TOP": 5, "DOUBT": 2.0},
    ),
}
