"""How the most similar goals were reached before.

Stores: the actions of each episode that earned a reward, under its goal; of several for the
same goal, the best rewarded and then the shortest. Actions that were answered with nothing new
are left out.
Retrieves: the nearest goals by cosine, if nearer than a floor, each as numbered steps.
Forgets: failures at once, and longer ways to the same goal.
"""

from metamem.designs import Experience, Memory, Query, Tools, text


class SuccessRetrieval(Memory):
    """Remembers how goals were reached and tells the ways to the most similar ones."""

    NEAREST = 3
    FLOOR = 0.3

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.goals = tools.vectors("goals")
        self.ways: dict[str, tuple[float, list[str]]] = {}

    async def retrieve(self, query: Query) -> str:
        hits = await self.goals.search(query.goal, k=self.NEAREST, floor=self.FLOOR)
        told = []
        for hit in hits:
            _, actions = self.ways[hit.payload]
            told.append(f"To reach '{hit.payload}' this worked:\n{text.numbered(actions)}")
        return "\n\n".join(told)

    async def update(self, experience: Experience) -> None:
        if experience.reward <= 0:
            return
        goal, actions = experience.goal, self._that_mattered(experience)
        if goal not in self.ways:
            await self.goals.add(goal, goal)
        elif not self._better(experience.reward, actions, *self.ways[goal]):
            return
        self.ways[goal] = (experience.reward, actions)

    def _better(self, reward: float, actions: list[str], old: float, before: list[str]) -> bool:
        return (reward, -len(actions)) > (old, -len(before))

    def _that_mattered(self, experience: Experience) -> list[str]:
        """The actions whose answer had not been seen before in the episode, or that paid."""
        seen = {experience.observation}
        actions = []
        for step in experience.steps:
            if step.observation not in seen or step.reward > 0:
                actions.append(step.action)
            seen.add(step.observation)
        return actions
