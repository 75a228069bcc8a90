"""The router: gives each task to one of several agents, by what it learned of who wins what.

While experiences are collected it deals tasks evenly, by chance. From what came of that it learns, and in
deployment the agent that is expected to win gets the task. Whoever plays, plays just as it would alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from metamem.core import registry
from metamem.core.errors import UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.core.needs import Needs, needs_of
from metamem.core.protocols import Agent, Player, Seat
from metamem.core.types import Episode, Observation
from metamem.routing import Context, Outcome, Router, Settings

VERSION = 1
NAME = "router"


class RouterAgent:
    """Gives each task to one of several agents: `router:reader,explorer`.

    Settings are those of a router; steps count as latency, and by default cost nothing.
    """

    def __init__(self, data: str = "", **settings: Any) -> None:
        self._names = _named(data)
        self._settings = Settings.of({"cost_weight": 0.0, "latency_weight": 0.0, **settings})
        self._agents: dict[str, Agent] = {n: registry.create("agents", n) for n in self._names}
        self._router: Router | None = None

    @staticmethod
    def needs(data: str = "") -> Needs:
        """What any of them needs: one model, which they share."""
        roles = [needs_of("agents", name).model for name in _named(data)]
        return Needs(model=next((role for role in roles if role), ""))

    @property
    def fingerprint(self) -> str:
        told = content_id(
            [agent.fingerprint for agent in self._agents.values()], self._settings.to_json()
        )
        return f"router-{VERSION}/{','.join(map(registry.plain, self._names))}/{told[:8]}"

    def start(self, seat: Seat) -> "RouterPlayer":
        return RouterPlayer(self, seat)

    def lesson(self, seat: Seat, episode: Episode) -> dict[str, Any]:
        arm, propensity = self._dealt(seat)
        return {
            "goal": episode.goal,
            "seen": episode.observation,
            "arm": arm,
            "propensity": propensity,
            "reward": episode.reward,
            "steps": len(episode.steps),
        }

    def taught(self, lessons: Sequence[Mapping[str, Any]]) -> "RouterAgent":
        """Frozen: nothing that happens later changes it."""
        wise = RouterAgent.__new__(RouterAgent)
        wise._names, wise._settings, wise._agents = self._names, self._settings, self._agents
        wise._router = Router(self._settings)
        for told in lessons:
            context = Context(told["goal"], told["seen"])
            outcome = Outcome(min(max(told["reward"], 0.0), 1.0), latency=told["steps"])
            wise._router.learn(context, told["arm"], outcome)
        return wise

    def chosen(self, seat: Seat, seen: Observation) -> tuple[str, float]:
        """Who gets a task, and with which propensity: by chance until something was learned."""
        if self._router is None:
            return self._dealt(seat)
        return self._router.best(Context(seat.goal, seen.text), self._names), 1.0

    def player(self, name: str, seat: Seat) -> Player:
        return self._agents[name].start(seat)

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def _dealt(self, seat: Seat) -> tuple[str, float]:
        place = derive_seed(NAME, seat.goal, seat.seed) % len(self._names)
        return self._names[place], 1.0 / len(self._names)


class RouterPlayer:
    """Whoever got one task: decided when it is first seen."""

    def __init__(self, router: RouterAgent, seat: Seat) -> None:
        self._router, self._seat = router, seat
        self._advice: str | None = None
        self._player: Player | None = None
        self.took: dict[str, float] = {}  # which of the agents it was: a one, and noughts

    def advise(self, advice: str) -> None:
        self._advice = advice
        if self._player is not None:
            self._player.advise(advice)

    async def act(self, observation: Observation) -> str:
        if self._player is None:
            name, _ = self._router.chosen(self._seat, observation)
            self._player = self._router.player(name, self._seat)
            if self._advice is not None:
                self._player.advise(self._advice)
            self.took = {
                f"by {registry.plain(each)}": float(each == name) for each in self._router.names
            }
        return await self._player.act(observation)


def _named(data: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in data.split(",") if name.strip())
    if len(names) < 2 or len(set(names)) < len(names):
        raise UsageError(
            f"a router chooses among several agents, each named once, not among {data!r}",
            hint="such as router:reader,explorer",
        )
    if any(name.partition(":")[0] == NAME for name in names):
        raise UsageError("a router does not give tasks to a router")
    return names
