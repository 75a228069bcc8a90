"""What Ctrl-C leaves of a run."""


class Stopped(Exception):
    """Ctrl-C during a run, which can go on later under this name."""

    def __init__(self, run: str, there: str) -> None:
        super().__init__(run)
        self.run, self.there = run, there  # its name, and what finds its archive again
