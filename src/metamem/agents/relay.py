"""Hands over what it is told: for domains where the text of the advice is what counts."""

from metamem.core.protocols import Seat
from metamem.core.types import Observation


class Relay:
    """The advice, word for word, as its one action; nothing where there is none."""

    fingerprint = "relay-1"

    def start(self, seat: Seat) -> "RelayPlayer":
        return RelayPlayer()


class RelayPlayer:
    def __init__(self) -> None:
        self._advice = ""

    def advise(self, advice: str) -> None:
        self._advice = advice

    async def act(self, observation: Observation) -> str:
        return self._advice
