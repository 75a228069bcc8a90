"""A guest that is no design: it adds, asks, and fails in several ways."""

import time
from typing import Any

from metamem.sandbox.inside import Failure, Link


class Adder:
    in_tasks = False

    def __init__(self, link: Link) -> None:
        self._link = link

    async def handle(self, operation: str, data: Any) -> Any:
        if operation == "add":
            return sum(data)
        if operation == "ask":
            return [await self._link.ask("number", n) for n in range(data)]
        if operation == "sleep":
            return [_sleep(data["each"]) for _ in range(data["times"])]
        if operation == "spin":
            while True:
                pass
        raise Failure("no such sum", operation)

    def forked(self, data: Any) -> None:
        pass

    def explain(self, error: BaseException) -> str:
        return repr(error)


def _sleep(seconds: float) -> None:
    time.sleep(seconds)


def serve() -> None:
    link = Link()
    link.serve(Adder(link))
