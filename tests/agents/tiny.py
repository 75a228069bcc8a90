"""A tiny text world with words of its own: things lie on hills, one is to be brought to a camp."""

from metamem.core.protocols import Agent, Seat
from metamem.core.types import Observation

HILLS = tuple(f"hill {n}" for n in range(1, 9))


class TinyWorld:
    """`fetch a THING for the camp`: walk, lift, carry back. The sled is only a distraction."""

    def __init__(self, thing: str = "flag", where: str = "hill 5") -> None:
        self.thing, self.where, self.goal = thing, where, f"bring the {thing} to the camp"

    def reset(self) -> Observation:
        self.at, self.carried, self.lying = "camp", "", {self.thing: self.where, "sled": "hill 2"}
        return self._show("A camp among hills.")

    def step(self, action: str) -> Observation:
        if action not in self._actions():
            return self._show("That cannot be done.")
        verb, *rest = action.split()
        if verb == "walk":
            self.at = " ".join(rest[1:])
            here = [thing for thing, place in self.lying.items() if place == self.at]
            return self._show(f"You reach {self.at}. Here: {', '.join(here) or 'grass'}.")
        if verb == "lift":
            self.carried = rest[0]
            del self.lying[self.carried]
            return self._show(f"You lift the {self.carried}.")
        if verb == "lower":
            self.lying[self.carried], self.carried = self.at, ""
        return self._show("Time goes by.")

    def _show(self, text: str) -> Observation:
        won = self.lying.get(self.thing) == "camp"
        return Observation(text, self._actions(), float(won), won)

    def _actions(self) -> tuple[str, ...]:
        actions = [f"walk to {place}" for place in ("camp", *HILLS) if place != self.at]
        for thing, place in self.lying.items():
            if place == self.at and not self.carried:
                actions.append(f"lift {thing} from {self.at}")
        if self.carried:
            actions.append(f"lower {self.carried} on {self.at}")
        return tuple(sorted([*actions, "wait", "sing"]))


async def play(
    agent: Agent, world: TinyWorld, seed: int, advice: str = "", limit: int = 12
) -> list[str]:
    """The actions taken; the last is `won` where the goal was reached."""
    player = agent.start(Seat(world.goal, seed))
    if advice:
        player.advise(advice)
    seen, actions = world.reset(), []
    while len(actions) < limit and not seen.done:
        actions.append(await player.act(seen))
        seen = world.step(actions[-1])
    return [*actions, "won"] if seen.done else actions
