"""A model of moving among things, and a search over it."""

from metamem.designs import Experience, Memory, Query, Tools
from metamem.designs.thinking import phrasing
from metamem.designs.thinking.grid import GridModel


class ModelAndSearch(Memory):
    """Learns what blocks, is pushed and wins, and tells the way that a search finds."""

    NODES = 4000
    MARGINS = (0, 2)  # cells beyond what is seen that may be walked on

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.model = GridModel()

    async def update(self, experience: Experience) -> None:
        self.model.learn(experience)

    async def retrieve(self, query: Query) -> str:
        for margin in self.MARGINS:
            found = self.model.plan(query.observation, self.NODES, margin)
            if found:
                return phrasing.plan(found.actions)
        return ""
