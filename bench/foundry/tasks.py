"""The stream of tasks that a seed is given: chores that come again, among tasks that come once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from bench.foundry.chores import CHORES, Chore
from bench.foundry.oneoffs import Chain, OneOffs
from bench.foundry.world import Project, Tree, project
from metamem.core.ids import derive_seed

KINDS = 2  # chores that a seed knows: what one person does again and again in one project


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked for. It is a chore, or a chain that comes once."""

    seed: int
    number: int
    project: Project
    goal: str
    wording: str  # the goal without its values
    chore: Chore | None = None
    slots: Mapping[str, str] = field(default_factory=dict)
    chain: Chain | None = None

    def done(self, tree: Tree) -> bool:
        if self.chore is not None:
            return self.chore.done(tree, self.slots)
        assert self.chain is not None
        return self.chain.done(tree)


def known_chores(seed: int, kinds: int = KINDS) -> tuple[Chore, ...]:
    """The chores that come again in a seed."""
    return tuple(Random(derive_seed("foundry-chores", seed)).sample(CHORES, kinds))


def stream(
    seed: int, tasks: int, share: float, chores: tuple[Chore, ...] | None = None
) -> list[Task]:
    """So many tasks, of which that share are chores, each as often as the others."""
    chores = known_chores(seed) if chores is None else chores
    random = Random(derive_seed("foundry-stream", seed, tasks, share))
    again = round(tasks * share)
    kinds: list[Chore | None] = [chores[k % len(chores)] for k in range(again)]
    kinds += [None] * (tasks - again)
    random.shuffle(kinds)
    oneoffs = OneOffs(random)
    made = []
    for number, chore in enumerate(kinds):
        given = project(seed, number)
        if chore is None:
            chain = oneoffs.next(given)
            made.append(Task(seed, number, given, chain.goal, chain.goal, chain=chain))
        else:
            slots = chore.slots(given, random)
            wording = random.choice(chore.goals)
            goal = wording.format(**slots)
            made.append(Task(seed, number, given, goal, _bare(wording), chore, slots))
    return made


def _bare(wording: str) -> str:
    pieces = wording.split("{")
    return " ".join([pieces[0], *(piece.split("}", 1)[1] for piece in pieces[1:])])
