"""The event loop inside the jail: no descriptors, no threads, no real clock.

It waits for one thing only: the host's answers. Several questions asked together are answered
together, in the order they were asked, and time passes only where nothing else can happen; so a
design runs the same however fast the host is. Having no descriptors, the loop survives a fork.
"""

import asyncio
from asyncio import base_events
from collections.abc import Callable
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
