"""Which bugs belong to which split.

A line of code belongs to one split: what was repaired there in one split is never asked in
another. Each project has its habits, families of faults that most of its bugs belong to, so that
who has repaired some of a project's bugs has an idea of the others.
"""

import random
from collections.abc import Sequence
from functools import cache

from metamem.core.errors import UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.core.types import SPLITS
from metamem.domains.coding.projects.bug import Bug
from metamem.domains.coding.projects.entry import Entry, as_bug, entries
from metamem.domains.coding.projects.tree import PROJECTS, UNSEEN, clean_tree

SIZES = {"train": 60, "valid": 60, "test": 108, "shift": 100}
HABITS = {
    "mathlib": ("off_by_one", "boundary", "guard"),
    "textlib": ("normalisation", "off_by_one"),
    "containers": ("order", "alias", "guard"),
    "taskboard": ("default", "condition"),
    "webtools": ("normalisation", "default", "constant"),
    "datelib": ("operator", "boundary", "constant"),
    "ledger": ("operator", "boundary", "order"),
}
HABITUAL = 0.8  # share of a project's generated bugs that are of its habits, where there are enough


def bugs(split: str, seed: int = 0) -> Sequence[Bug]:
    """The bugs of a split, always the same for a seed, projects taking turns."""
    if split not in SPLITS:
        raise UsageError(f"no split {split}", hint=f"one of {', '.join(SPLITS)}")
    return tuple(map(as_bug, _chosen(split, seed)))


def version() -> str:
    """Names the data exactly: sources, catalogue and the way it is dealt."""
    trees = [clean_tree(project) for project in (*PROJECTS, UNSEEN)]
    told = [entry.to_json() for entry in entries()]
    return content_id("coding bugs 1", trees, told, SIZES, HABITS, HABITUAL)


@cache
def _chosen(split: str, seed: int) -> tuple[Entry, ...]:
    projects = (UNSEEN,) if split == "shift" else PROJECTS
    piles = [_of_project(project, split, seed) for project in projects]
    share, rest = divmod(SIZES[split], len(projects))
    taken = [pile[: share + (i < rest)] for i, pile in enumerate(piles)]
    for pile in taken:  # both halves of a split shall have their part of the written ones
        random.Random(derive_seed("order", split, seed, pile[0].project)).shuffle(pile)
    turns = max(map(len, taken))
    return tuple(pile[turn] for turn in range(turns) for pile in taken if turn < len(pile))


def _of_project(project: str, split: str, seed: int) -> list[Entry]:
    """All bugs of a project in a split, those to be taken first in front."""
    rng = random.Random(derive_seed("bugs", project, split, seed))
    groups = _groups(project)
    if project != UNSEEN:
        groups = _dealt(project, groups, seed)[split]
    written = [e for group in groups for e in group if e.written]
    others = []
    for group in groups:
        made = [e for e in group if not e.written]
        habitual = [e for e in made if e.family in HABITS[project]]
        rng.shuffle(made)
        rng.shuffle(habitual)
        others.append(habitual + [e for e in made if e not in habitual])
    return _mixed(written, others, project, rng)


def _mixed(
    written: list[Entry], groups: list[list[Entry]], project: str, rng: random.Random
) -> list[Entry]:
    """Round by round one bug of each line, habits four times in five; written ones come first."""
    ordered = []
    while any(groups):
        fronts = [group.pop(0) for group in groups if group]
        rng.shuffle(fronts)
        habitual = [e for e in fronts if e.family in HABITS[project]]
        strange = [e for e in fronts if e.family not in HABITS[project]]
        while habitual:
            pile = strange if strange and rng.random() > HABITUAL else habitual
            ordered.append(pile.pop())
        ordered.extend(strange)
    return [*written, *ordered]


def _groups(project: str) -> list[list[Entry]]:
    """Bugs that touch a common line stay together."""
    groups: list[tuple[set[tuple[str, int]], list[Entry]]] = []
    for entry in entries():
        if entry.project != project:
            continue
        lines = {(entry.path, line) for line in entry.lines}
        joined = [entry]
        apart = []
        for group in groups:
            if lines & group[0]:
                lines |= group[0]
                joined = group[1] + joined
            else:
                apart.append(group)
        groups = [*apart, (lines, joined)]
    return [group for _, group in groups]


def _dealt(project: str, groups: list[list[Entry]], seed: int) -> dict[str, list[list[Entry]]]:
    """The groups dealt out to three splits in proportion to their sizes; written ones evenly."""
    piles: dict[str, list[list[Entry]]] = {"train": [], "valid": [], "test": []}
    order = sorted(groups, key=lambda g: derive_seed("deal", project, seed, g[0].id))
    order.sort(key=lambda g: not any(e.written for e in g))
    for group in order:
        split = min(piles, key=lambda name: len(piles[name]) / SIZES[name])
        piles[split].append(group)
    return piles
