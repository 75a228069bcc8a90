"""The floor: any admissible action, each as likely as the others. Advice goes unread."""

import random

from metamem.core.errors import UsageError
from metamem.core.ids import derive_seed
from metamem.core.protocols import Seat
from metamem.core.types import Observation


class RandomAgent:
    """Any admissible action, each as likely as the others; advice goes unread."""

    fingerprint = "random-1"

    def start(self, seat: Seat) -> "RandomPlayer":
        return RandomPlayer(derive_seed("random agent", seat.goal, seat.seed))


class RandomPlayer:
    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)

    def advise(self, advice: str) -> None:
        pass

    async def act(self, observation: Observation) -> str:
        if not observation.actions:
            raise UsageError(
                "the random agent chooses among admissible actions, and this world shows none",
                hint="choose an agent that writes its own actions, or a domain that shows them",
            )
        return self._rng.choice(observation.actions)
