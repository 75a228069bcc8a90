"""What a model that embeds texts is to metamem, and the way to it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from metamem.core.chat import Usage

Rows = NDArray[np.float32]
# Texts, and the id of the design on whose behalf they are embedded → a unit row for each.
EmbedAt = Callable[[Sequence[str], str], Awaitable[Rows]]


@dataclass(frozen=True, slots=True)
class Embedded:
    """One answer, as the model gave it: `vectors` is not checked yet."""

    vectors: list[Any]
    usage: Usage


class EmbeddingModel(Protocol):
    """One model behind one adapter. It sends once: retries, records and budgets are the broker's."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """Names the model and whatever of its settings can change a vector."""
        ...

    @property
    def window(self) -> int:
        """Tokens of a text that it can take."""
        ...

    @property
    def at_once(self) -> int: ...

    @property
    def seconds(self) -> float: ...

    def price(self, usage: Usage) -> float | None: ...

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """The answer, or a `Fault`."""
        ...

    async def close(self) -> None: ...
