"""What Ctrl-C leaves of something long."""


class Stopped(Exception):
    """Ctrl-C during what can go on later."""

    def __init__(self, how: str = "") -> None:
        super().__init__(how)
        self.how = how  # it goes on, in words: "with ..."; empty where nothing was begun
