"""How ALMA's helpers, which are made without arguments, find the tools of their memory."""

from collections.abc import Coroutine, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from metamem.designs.toolbox import Tools

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Value = TypeVar("Value")

NOON = 1_767_268_800.0  # when every memory begins: 1 January 2026, 12:00 UTC
_EPISODE, _TICK = 60.0, 1e-6  # seconds
_LETTERS = 80_000  # in one question: fewer bytes than a message may have, however they are written


class Waiting(Protocol):
    """Something that puts work off until a search needs it or an update ends."""

    def flush(self) -> None: ...


class BlockingLink(Protocol):
    """The way to the host for code that cannot await, as ALMA's vector stores cannot."""

    def ask_now(self, tool: str, data: Any) -> Any: ...

    def log(self, message: str) -> None: ...


class _AtOnce:
    """A link whose coroutines never wait."""

    def __init__(self, link: BlockingLink) -> None:
        self._link = link

    async def ask(self, tool: str, data: Any) -> Any:
        return self._link.ask_now(tool, data)

    def log(self, message: str) -> None:
        self._link.log(message)


class Desk:
    """The tools of one memory, as ALMA's helpers use them."""

    def __init__(self, tools: Tools, link: BlockingLink) -> None:
        self.llm = tools.llm
        self._embedder = Tools(_AtOnce(link), seed=0)  # for its embeddings, each asked for once
        self._waiting: list[Waiting] = []
        self._time = NOON

    def tick(self) -> float:
        """The time now; no two are the same."""
        self._time += _TICK
        return self._time

    def embed(self, texts: list[str]) -> "NDArray[np.float32]":
        import numpy as np

        parts = [_finished(self._embedder.embed(part)) for part in _portions(texts)]
        return np.concatenate(parts)

    def put_off(self, work: Waiting) -> None:
        if not any(work is known for known in self._waiting):
            self._waiting.append(work)

    def end_of_episode(self) -> None:
        self._time += _EPISODE
        waiting, self._waiting = self._waiting, []
        for work in waiting:
            work.flush()


_current: Desk | None = None  # a jailed process has one memory, and so one desk


def use(desk: Desk) -> None:
    global _current
    _current = desk


def the_desk() -> Desk | None:
    """None while the design's file is being run."""
    return _current


def desk() -> Desk:
    if _current is None:
        raise RuntimeError("a store, a model or embeddings can be used in a structure, not before")
    return _current


def _portions(texts: list[str]) -> Iterator[list[str]]:
    """The texts in order, at least one list of them."""
    portion: list[str] = []
    letters = 0
    for text in texts:
        if portion and letters + len(text) > _LETTERS:
            yield portion
            portion, letters = [], 0
        portion.append(text)
        letters += len(text)
    yield portion


def _finished(work: Coroutine[Any, Any, Value]) -> Value:
    """The result of a coroutine that never waits."""
    try:
        work.send(None)
    except StopIteration as done:
        value: Value = done.value
        return value
    raise RuntimeError("waits where it must not")
