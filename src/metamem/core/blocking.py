"""Plain functions made of coroutine functions, for callers that do not await."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
SUFFIX = "_async"


def blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The same function, which returns when the work is done, wherever it is called."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        return finished(function(*args, **kwargs))

    call.__name__ = function.__name__.removesuffix(SUFFIX)
    call.__qualname__ = call.__name__
    return call


def finished(work: Coroutine[Any, Any, T]) -> T:
    """What comes of it. Where this thread's event loop runs already (in a notebook, in a web
    handler), the work gets a thread and a loop of its own; the caller waits all the same.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as other:
        return other.submit(asyncio.run, work).result()
