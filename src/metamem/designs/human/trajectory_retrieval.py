"""The whole episode that began most like this one.

Stores: every episode, won or lost, under its goal and first observation; the same beginning
again replaces the earlier episode. Each key is embedded once.
Retrieves: the one episode whose beginning is nearest by cosine, if nearer than a floor; else
nothing.
Forgets: nothing but replaced episodes.
"""

from metamem.designs import Experience, Memory, Query, Tools


class TrajectoryRetrieval(Memory):
    """Remembers whole episodes and tells the one with the most similar beginning."""

    FLOOR = 0.3  # cosine below which no episode is similar enough to be told

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.beginnings = tools.vectors("beginnings")
        self.episodes: dict[str, Experience] = {}

    async def retrieve(self, query: Query) -> str:
        hits = await self.beginnings.search(
            self._beginning(query.goal, query.observation), k=1, floor=self.FLOOR
        )
        return self._tell(self.episodes[hits[0].payload]) if hits else ""

    async def update(self, experience: Experience) -> None:
        beginning = self._beginning(experience.goal, experience.observation)
        if beginning not in self.episodes:
            await self.beginnings.add(beginning, beginning)
        self.episodes[beginning] = experience

    def _beginning(self, goal: str, observation: str) -> str:
        return f"{goal}\n{observation}"

    def _tell(self, episode: Experience) -> str:
        lines = [
            f"A similar task: {episode.goal}",
            f"It ended with reward {episode.reward:g}.",
            f"It began with: {episode.observation}",
        ]
        for step in episode.steps:
            lines += [f"> {step.action}", step.observation]
        return "\n".join(lines)
