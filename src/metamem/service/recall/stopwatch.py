"""How long each stage of an answer took."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Milliseconds by stage. A stage that comes again adds to what it took before."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}
        self._begun = time.perf_counter()

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        begun = time.perf_counter()
        try:
            yield
        finally:
            took = 1000 * (time.perf_counter() - begun)
            self.milliseconds[stage] = round(self.milliseconds.get(stage, 0.0) + took, 3)

    def stop(self) -> dict[str, float]:
        """All stages, and the whole."""
        whole = 1000 * (time.perf_counter() - self._begun)
        return {**self.milliseconds, "all": round(whole, 3)}
