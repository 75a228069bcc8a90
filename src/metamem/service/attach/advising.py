"""Who else has something to say to an agent: parts above the service, found by name in the registry.

An adviser hears events as they come and may answer with a text, which is told where the hook's host takes
it. It is told when more of a scope is kept. One that fails is left out of that answer; memory goes on.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from metamem.core.access import Scope
from metamem.core.registry import create, names
from metamem.service.attach.events import Event
from metamem.service.database import Database

KIND = "advisers"


@dataclass(frozen=True, slots=True)
class Advice:
    """What to tell, marked as data, and what is to be noted once it is told."""

    text: str = ""
    delivered: Callable[[], None] = lambda: None


SILENCE = Advice()


class Adviser(Protocol):
    """Made with the service's `database`. It is asked by several threads at once."""

    def heard(self, scope: Scope, events: Sequence[Event]) -> Advice:
        """What there is to say to the last of some events; those before it are news, too."""
        ...

    def kept(self, scope: Scope) -> None:
        """More is kept of a scope's sessions."""
        ...


class Advisers:
    """All of them, in the order of their names."""

    def __init__(self, database: Database) -> None:
        self.trouble = ""
        self._all: dict[str, Adviser] = {}
        for name in names(KIND):
            with self._trying(name):
                self._all[name] = create(KIND, name, database=database)

    def heard(self, scope: Scope, events: Sequence[Event]) -> Advice:
        found: dict[str, Advice] = {}
        for name, adviser in self._all.items():
            with self._trying(name):
                advice = adviser.heard(scope, events)
                if advice.text:
                    found[name] = advice

        def delivered() -> None:
            for name, advice in found.items():
                with self._trying(name):
                    advice.delivered()

        return Advice("\n\n".join(advice.text for advice in found.values()), delivered)

    def kept(self, scope: Scope) -> None:
        for name, adviser in self._all.items():
            with self._trying(name):
                adviser.kept(scope)

    @contextmanager
    def _trying(self, name: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # of a plug-in: the hooks of memory do not suffer from it
            self.trouble = f"{name}: {type(error).__name__}: {error}".split("\n")[0]
