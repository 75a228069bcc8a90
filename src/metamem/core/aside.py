"""Calls that may wait for a disk or a server, made beside the event loop and not in it."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def _one_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="aside")


_thread = _one_thread()


def _fresh_in_child() -> None:
    """Threads do not live on in a forked child: what is handed to the old one would wait for ever."""
    global _thread
    _thread = _one_thread()


os.register_at_fork(after_in_child=_fresh_in_child)


async def aside(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The result of a plain function, called on a thread of its own while the loop goes on.

    Calls are carried out one after the other, in the order in which they were handed over. One
    that was handed over is carried out, even where whoever waits for it is cancelled.
    """
    loop = asyncio.get_running_loop()
    under_way = loop.run_in_executor(_thread, partial(call, *args, **kwargs))
    try:
        return await asyncio.shield(under_way)
    except asyncio.CancelledError:
        await asyncio.wait([under_way])
        raise
