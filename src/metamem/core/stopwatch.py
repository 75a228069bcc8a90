"""How long something was worked on: pauses do not count."""

import time


class Stopwatch:
    """Runs from when it is made, except while it is paused."""

    def __init__(self) -> None:
        self._counted = 0.0
        self._since: float | None = time.monotonic()

    def seconds(self) -> float:
        going = 0.0 if self._since is None else time.monotonic() - self._since
        return self._counted + going

    def pause(self) -> None:
        self._counted, self._since = self.seconds(), None

    def resume(self) -> None:
        if self._since is None:
            self._since = time.monotonic()
