"""Which functions belong to which split, and the bugs that are made of them.

A function of the library is shown in one pool alone: the first half of train, its second half,
valid, test, or shift. So what one pool shows is never asked in another. What they share is the
projects, with their words and their habits.
"""

import random
from collections import Counter
from collections.abc import Sequence
from functools import cache

from metamem.core.errors import DataError, UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.core.types import SPLITS
from metamem.domains.coding.projects.bug import Bug
from metamem.domains.coding.projects.compose import compose
from metamem.domains.coding.projects.habits import Habits, projects
from metamem.domains.coding.projects.library import Function, functions

SIZES = {"train": 80, "valid": 80, "test": 120, "shift": 100}
MOST = 2_000  # tasks of a split at most
# What each pool gets of the library. The halves of train are apart, since a search learns from the
# first and is scored on the second.
SHARES = {"train": 0.18, "train again": 0.18, "valid": 0.18, "test": 0.26, "shift": 0.20}
_EARLIER = {"train": (), "valid": ("train",), "test": ("train", "valid"), "shift": ()}
_DRAWS = 400  # faults that are drawn before a place in a split is given up


def bugs(split: str, seed: int = 0, size: int = 0) -> Sequence[Bug]:
    """The bugs of a split, always the same for a seed and size; projects take turns in time."""
    if split not in SPLITS:
        raise UsageError(f"no split {split}", hint=f"one of {', '.join(SPLITS)}")
    if size > MOST:
        raise UsageError(f"a split of generated bugs has at most {MOST} tasks")
    return _bugs(split, seed, size or SIZES[split])


def kinds() -> list[str]:
    """All kinds of faults."""
    return sorted({kind for function in functions() for kind in function.kinds})


def version() -> str:
    """Names the data exactly: the library, the projects, and the way they are dealt."""
    told = [repr(project) for project in projects()]
    return content_id("coding bugs 2", repr(functions()), told, SIZES, SHARES)


@cache
def _bugs(split: str, seed: int, size: int) -> tuple[Bug, ...]:
    chosen = [p for p in projects() if p.seen == (split != "shift")]
    pools = dealt(seed)
    found: list[Bug] = []
    for number in range(size):
        project = chosen[number % len(chosen)]
        again = split == "train" and number >= size // 2
        pool = pools["train again" if again else split]
        before = sum(SIZES[earlier] for earlier in _EARLIER[split]) // len(chosen)
        time = before + number // len(chosen)
        found.append(_bug(project, pool, time, (split, seed, number)))
    return tuple(found)


def _bug(project: Habits, pool: Sequence[Function], time: int, key: tuple[str, int, int]) -> Bug:
    rng = random.Random(derive_seed("bug", project.project, *key))
    here = sorted({kind for function in pool for kind in function.kinds})
    kind = project.kind(rng, here)
    for _ in range(_DRAWS):
        bug = compose(project, pool, kind, time, rng)
        if bug is not None:
            return bug
    raise DataError(f"no fault of the kind {kind} shows in the pool of {key[0]}")


@cache
def dealt(seed: int) -> dict[str, tuple[Function, ...]]:
    """The library in pools: each function goes where its kinds are most wanted."""
    pools: dict[str, list[Function]] = {name: [] for name in SHARES}
    held: dict[str, Counter[str]] = {name: Counter() for name in SHARES}
    spread = Counter(kind for function in functions() for kind in function.kinds)
    for function in sorted(functions(), key=lambda f: derive_seed("pool", seed, f.name)):
        need = {
            name: sum(1 / spread[k] - held[name][k] / SHARES[name] / spread[k] ** 2
                      for k in function.kinds) / len(function.kinds)
            - len(pools[name]) / SHARES[name] / len(functions()) ** 2
            for name in SHARES
        }  # fmt: skip
        chosen = max(SHARES, key=lambda name: need[name])
        pools[chosen].append(function)
        held[chosen].update(function.kinds)
    return {name: tuple(members) for name, members in pools.items()}
