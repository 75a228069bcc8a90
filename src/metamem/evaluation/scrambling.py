"""What memory is given of what was lived: all of it, nothing, or the same texts in a disorder.

A memory that does as well without experience brings its knowledge along. One that does as well with
scrambled experience lives by the texts alone: what follows from what taught it nothing.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from metamem.core.ids import derive_seed
from metamem.core.protocols import WorldDomain
from metamem.core.types import Experience, Message, Step
from metamem.evaluation.rules import Experienced

Item = TypeVar("Item")


def given(lived: Sequence[Experience], rule: Experienced) -> list[Experience]:
    """What of these experiences a memory is told under a rule."""
    if rule == "none":
        return []
    return scrambled(lived) if rule == "scrambled" else list(lived)


def given_of_group(
    domain: WorldDomain, split: str, group: str, rule: Experienced
) -> list[Experience]:
    """Likewise where experience is not played, but a group has a history.

    A message tells all that it says wherever it stands. So where a group's history is scrambled, it
    is as long as it was, and made of what the other groups of the split lived through.
    """
    own = list(domain.history(group)) if rule != "none" else []
    if rule != "scrambled":
        return own
    groups = sorted({task.group for task in domain.tasks(split)} - {group})
    others = _shuffled([e for other in groups for e in domain.history(other)], "group", group)
    return others[: len(own)]


def scrambled(lived: Sequence[Experience]) -> list[Experience]:
    """What came back is dealt out anew over all steps of all episodes; what was asked and done stays.

    Observations, admissible actions and rewards change places, each for itself, and so do the
    rewards of whole episodes, and what was said. The disorder is always the same.
    """
    steps = [step for one in lived for step in one.steps]
    observations = iter(_shuffled([s.observation for s in steps], "observations"))
    actions = iter(_shuffled([s.actions for s in steps], "actions"))
    ends = iter(_shuffled([(s.reward, s.done) for s in steps], "ends"))
    rewards = iter(_shuffled([one.reward for one in lived], "rewards"))
    texts = iter(_shuffled([m.text for one in lived for m in one.messages], "messages"))
    return [
        replace(
            one,
            steps=tuple(
                Step(s.action, next(observations), next(actions), *next(ends)) for s in one.steps
            ),
            reward=next(rewards),
            messages=tuple(Message(m.speaker, next(texts), m.time) for m in one.messages),
        )
        for one in lived
    ]


def _shuffled(items: Sequence[Item], *what: str) -> list[Item]:
    dealt = list(items)
    random.Random(derive_seed("scrambled", *what)).shuffle(dealt)
    return dealt
