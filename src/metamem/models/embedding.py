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


class WrongVectors(ValueError):
    """An answer that cannot be taken for vectors; the message says why."""


def checked(answer: Embedded, count: int) -> Rows:
    """The vectors of an answer as unit rows."""
    if len(answer.vectors) != count:
        raise WrongVectors(f"it gave {len(answer.vectors)} vectors for {count} texts")
    try:
        given = np.asarray(answer.vectors)
    except ValueError as error:
        raise WrongVectors("it gave vectors of different lengths") from error
    if given.ndim != 2 or given.dtype.kind not in "fiu" or not given.shape[1]:
        raise WrongVectors("it gave what are no vectors of numbers")
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(given.astype(np.float64), axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise WrongVectors("it gave vectors that are not finite, or zero")
    rows: Rows = (given / lengths).astype(np.float32)
    return rows


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
