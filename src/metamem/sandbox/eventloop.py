"""The event loop inside the jail: no descriptors, no threads, no real clock.

It waits for one thing only: the host's answers. Several questions asked together are answered
together, in the order they were asked, and time passes only where nothing else can happen; so a
guest runs the same however fast the host is. Having no descriptors, the loop survives a fork.
"""

import asyncio
import types
from asyncio import base_events
from collections.abc import Callable, Coroutine, Generator
from typing import Any


class _Waiting:
    """Stands where an event loop has its selector."""

    def __init__(self, loop: "JailLoop", wait: Callable[[], bool]) -> None:
        self._loop = loop
        self._wait = wait

    def select(self, timeout: float | None) -> list[Any]:
        if timeout == 0 or self._wait():
            return []
        if timeout is None:
            raise RuntimeError("waits for something that can never happen")
        self._loop.now += timeout
        return []


class JailLoop(base_events.BaseEventLoop):
    """`wait` blocks for the host's answers and says whether any had been asked for."""

    def __init__(self, wait: Callable[[], bool]) -> None:
        super().__init__()
        self.now = 0.0
        self._selector = _Waiting(self, wait)

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """`run_until_complete` for code that does not care for tasks: only if it waits, is there
        one, since a task costs more than most of what is asked of a guest."""
        asyncio._set_running_loop(self)
        try:
            awaited = work.send(None)
        except StopIteration as end:
            return end.value
        finally:
            asyncio._set_running_loop(None)
        return self.run_until_complete(_go_on(work, awaited))

    def time(self) -> float:
        return self.now

    def _process_events(self, event_list: list[Any]) -> None:
        """Nothing comes in as an event: answers resolve their futures directly."""

    def _write_to_self(self) -> None:
        """There are no other threads that could wake this one."""

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """Where there are no threads, the work is done at once."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future


async def _go_on(work: Coroutine[Any, Any, Any], awaited: Any) -> Any:
    """The rest of a coroutine that has begun to wait for something."""
    return await _rest(work, awaited)


@types.coroutine
def _rest(work: Coroutine[Any, Any, Any], awaited: Any) -> Generator[Any, Any, Any]:
    try:
        while True:
            try:
                yield awaited
            except BaseException as error:
                awaited = work.throw(error)
            else:
                awaited = work.send(None)
    except StopIteration as end:
        return end.value
