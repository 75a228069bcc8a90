"""What long work tells whoever is watching. The default watcher says nothing."""

from typing import Protocol


class Progress(Protocol):
    def phase(self, name: str, total: int = 0) -> None:
        """A new phase begins; `total` is in units of `advance`, 0 where it is not known."""
        ...

    def advance(self, amount: int = 1) -> None: ...

    def cases(self, amount: int = 1) -> None:
        """Some cases were played: a sign of life between advances."""
        ...

    def waiting(self, yes: bool) -> None:
        """Somebody else is waited for, from now on or no longer: that time is nobody's work."""
        ...

    def note(self, text: str) -> None: ...


class Silent:
    def phase(self, name: str, total: int = 0) -> None:
        pass

    def advance(self, amount: int = 1) -> None:
        pass

    def cases(self, amount: int = 1) -> None:
        pass

    def waiting(self, yes: bool) -> None:
        pass

    def note(self, text: str) -> None:
        pass
