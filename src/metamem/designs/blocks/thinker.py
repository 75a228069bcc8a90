"""The plumbing of layers that think; the slots are filled by blocks.

`Thinker` is copied into each child that needs it, without the empty slots. What is learned of
episodes is a *mind*, one for each sort of episode. The slots, in the order they act:

whose:   under which sorts an episode, or a query, falls
think:   what a mind learns of an episode, and the ways that it then sees
where:   which place stands for what a way leaves open
fit:     a way as it can be gone from here
tell:    the words of the advice
"""

from typing import Any

from metamem.designs import Experience, Layer, Query, Tools, text
from metamem.designs.thinking.effects import Effects
from metamem.designs.thinking.frames import SLOT, Frames, fill, parse
from metamem.designs.thinking.sightings import Sightings


class Thinker(Layer):
    """Learns from every step how things go, and works out what to do."""

    WAYS = 12  # told at most
    FEWEST = 3  # episodes of a sort before it is asked rather than a wider one
    BUDGET = 1200  # tokens

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.minds: dict[str, Any] = {}  # by sort of episode
        self.lived: dict[str, int] = {}  # episodes of each sort
        self.frames, self.effects, self.seen = Frames(), Effects(), Sightings()
        self.leading: dict[str, list[str]] = {}  # frame: what leads to it, since the last update

    async def update(self, experience: Experience) -> None:
        self.leading = {}
        self.frames.learn(experience)
        self.effects.learn(experience)
        self.seen.learn(experience)
        for sort in self.whose(experience.goal, experience.observation):
            mind = self.minds[sort] if sort in self.minds else self.think_begin()
            self.minds[sort] = self.think_learn(mind, experience)
            self.lived[sort] = self.lived.get(sort, 0) + 1

    async def retrieve(self, query: Query, told: str = "") -> str:
        ways: list[list[str]] = []
        for sort in self.whose(query.goal, query.observation):
            if self.lived.get(sort, 0) >= self.FEWEST and not ways:
                ways = self.think(self.minds[sort], query)
        filled = [full for way in ways for full in self.where(way, query)]
        fitting = [self.fit(way, query) for way in filled[: self.WAYS]]
        return text.cap(self.tell([way for way in fitting if way], query), self.BUDGET)

    def things(self) -> set[str]:
        """What actions are known to be about."""
        uses = self.frames.uses.values()
        return {kind for use in uses for slot in use.fillers for kind in slot}

    def leads(self, frame: str) -> list[str]:
        """Frames with one slot that make actions of this frame possible."""
        if frame not in self.leading:
            found = [f for f, _ in self.effects.enablers(frame) if f.count(SLOT) == 1]
            self.leading[frame] = sorted(found, key=lambda f: -self.frames.uses[f].shown)
        return self.leading[frame]

    def reach(self, frame: str, place: str) -> list[str]:
        """What makes actions of a frame possible at a place, as far as is known."""
        kind, uses = text.kinds(place), self.frames.uses
        return [fill(f, [place]) for f in self.leads(frame) if kind in uses[f].fillers[0]]

    def here(self, query: Query) -> list[str]:
        """The things that actions were about at the start: what turns up later is no place of a world."""
        actions = query.start_actions or query.actions
        return list(dict.fromkeys(f for action in actions for f in parse(action).fillers))

    def think_begin(self) -> Any:
        """A mind that has learned nothing."""
        return None

    def think_learn(self, mind: Any, experience: Experience) -> Any:
        """The mind after one more episode."""
        return mind

    # --- the slots ------------------------------------------------------------------------

    def whose(self, goal: str, observation: str) -> list[str]:
        """The sorts of episode that this is, the narrowest first."""
        raise NotImplementedError

    def think(self, mind: Any, query: Query) -> list[list[str]]:
        """Ways to the goal as actions, the best first; `_` stands for what is left open."""
        raise NotImplementedError

    def where(self, way: list[str], query: Query) -> list[list[str]]:
        """The way with places for what it leaves open, the likeliest first."""
        raise NotImplementedError

    def fit(self, way: list[str], query: Query) -> list[str]:
        """The way as it can be gone from here; empty: not at all."""
        raise NotImplementedError

    def tell(self, ways: list[list[str]], query: Query) -> str:
        """The words of the advice."""
        raise NotImplementedError
