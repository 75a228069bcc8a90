"""Designs that would show it, if what is served were not what was evaluated."""

from metamem.core.types import Design
from tests.designs.test_blocks import design, layer

COUNTING = Design('''
from metamem.designs import Memory


class Counting(Memory):
    """How often it was asked and told."""

    def __init__(self, tools):
        super().__init__(tools)
        self.asked, self.seen = 0, []

    async def update(self, experience):
        self.seen.append(experience.goal)

    async def retrieve(self, query):
        self.asked += 1
        return f"asked {self.asked}, seen {len(self.seen)}: {self.seen[-1:]}"
''')

LUCKY = Design('''
import random
import uuid

from metamem.designs import Memory


class Lucky(Memory):
    """Everything that comes by chance."""

    def __init__(self, tools):
        super().__init__(tools)
        self.drawn = []

    async def update(self, experience):
        self.drawn.append(f"{self.draw()} {experience.goal}")

    async def retrieve(self, query):
        return "\\n".join([*self.drawn[-5:], self.draw()])

    def draw(self):
        return f"{random.random()} {uuid.uuid4()} {self.tools.rng.random()}"
''')

BESIDE = Design('''
from metamem.designs import Memory


class Beside(Memory):
    """State where a snapshot does not look for it."""

    goals = {}

    async def update(self, experience):
        self.goals[experience.goal] = len(self.goals)

    async def retrieve(self, query):
        return f"{self.goals}"
''')


def least_told() -> Design:
    """What was told least often goes first, and soon."""
    gene = layer(forget="LeastTold", match="Anything", prefer="Frequent")
    gene.constants["CAPACITY"] = 6
    return design(gene)
