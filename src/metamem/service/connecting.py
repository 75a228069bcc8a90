"""`metamem.connect`: a memory service in this process, or one over the network."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from metamem.core.access import Caller
from metamem.core.errors import UsageError
from metamem.core.types import Experience, Query
from metamem.service.administers import Connected, LocalAdministration
from metamem.service.bound import Bound
from metamem.service.client import MemoryClient
from metamem.service.designs.threads import Served
from metamem.service.designs.words import Advised, Against, Experienced, Standing, Trial
from metamem.service.home import memory_folder
from metamem.service.service import MemoryService

_REMOTE = ("http://", "https://", "unix:")


class LocalMemories(Bound):
    """A service in this process, for one caller. Closing it closes what it `owns`."""

    def __init__(
        self,
        service: MemoryService,
        caller: Callable[[], Caller],
        *,
        designs: Served | None = None,
        owns: bool = False,
    ) -> None:
        super().__init__(service, caller)
        self._designs = designs
        self.administration = LocalAdministration(service.administration, caller)
        self._owned = service if owns else None

    def advise(self, scope: str, query: Query, *, session: str = "") -> Advised:
        return self._served.advise(self.caller, scope, query, session)

    def experience(
        self, scope: str, lived: Experience, *, moment: str = "", useful: Sequence[str] = ()
    ) -> Experienced:
        return self._served.experience(self.caller, scope, lived, moment, useful)

    def standing(self, scope: str) -> Standing:
        return self._served.standing(self.caller, scope)

    def compare(
        self, scope: str, design: str, *, share: float = 0.5, against: Against = "nothing"
    ) -> Trial:
        return self._served.compare(self.caller, scope, design, share, against)

    def end_comparison(self, scope: str) -> bool:
        return self._served.end_comparison(self.caller, scope)

    @property
    def service(self) -> MemoryService:
        """For parts that are beside its verbs."""
        return self._service

    @property
    def _served(self) -> Served:
        if self._designs is None:
            raise UsageError(
                "no designs are served here",
                hint="start a server with them: metamem serve --archive DIR, or --design ID"
                " --scope SCOPE; `metamem advise` and `metamem experience` open them for one call",
            )
        return self._designs

    def close(self) -> None:
        if self._owned is not None:
            self._owned.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()


def connect(where: str | Path | None = None, key: str | None = None) -> Connected:
    """All verbs of memory: of the service at an address, or of a folder of one's own.

    Without an address METAMEM_URL is asked, with METAMEM_KEY; where that is not set, the folder of
    METAMEM_MEMORY or the usual one is opened in this process, with all rights of its owner.
    """
    there = str(where or os.environ.get("METAMEM_URL", ""))
    if there.startswith(_REMOTE) or (where is not None and "://" in there):
        return connect_to(there, key)
    if where is None and there:
        raise UsageError(f"METAMEM_URL is {there!r}", hint="http://…, https://… or unix:PATH")
    if key:
        raise UsageError("a key is for a server: say its address, too")
    return open_folder(memory_folder(where))


def connect_to(url: str, key: str | None = None) -> MemoryClient:
    """The service at an address, and never a folder of that name."""
    return MemoryClient(url, os.environ.get("METAMEM_KEY", "") if key is None else key)


def open_folder(folder: Path, *, create: bool = True) -> LocalMemories:
    """The memory of a folder in this process, for its owner."""
    service = MemoryService(folder, create=create)
    return LocalMemories(service, service.local_caller, owns=True)
