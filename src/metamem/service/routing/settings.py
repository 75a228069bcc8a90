"""Which settings a router of a scope runs with: those that the promotion ledger has in use."""

import threading
import time
from collections.abc import Callable

from metamem.core.errors import MetamemError
from metamem.promotion.ledger import Ledger
from metamem.promotion.parameters import in_use
from metamem.routing import Settings
from metamem.service.archives import ArchivesEraser
from metamem.service.database import Database
from metamem.store.records import Place
from metamem.store.sqlite import SqliteArchive

LOOK_EVERY = 5.0  # seconds
DOMAIN = "routing"
DEFAULTS = "defaults"
Used = tuple[Settings, str]  # and where they come from


class SettingsInUse:
    """Looks into the ledgers of the archives that this memory knows, at most every few seconds."""

    def __init__(
        self,
        database: Database,
        *,
        look_every: float = LOOK_EVERY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._archives = ArchivesEraser(database)
        self._look_every, self._clock = look_every, clock
        self._lock = threading.Lock()
        self._known: dict[str, tuple[float, Used]] = {}

    def of(self, scope: str) -> Used:
        """For the scope itself, else for the domain, else as by default."""
        with self._lock:
            now = self._clock()
            known = self._known.get(scope)
            if known is None or now - known[0] >= self._look_every:
                known = self._known[scope] = (now, self._looked_up(scope))
            return known[1]

    def _looked_up(self, scope: str) -> Used:
        for path in self._archives.paths():
            with SqliteArchive(path, create=False) as archive:
                ledger = Ledger(archive)
                for place in (Place("scope", scope), Place("domain", DOMAIN)):
                    values = in_use(ledger, place, name="" if place.kind == "domain" else DOMAIN)
                    if values is None:
                        continue
                    try:
                        return Settings.of(values), f"{place.kind}:{place.name}"
                    except (MetamemError, TypeError):
                        continue  # parameters of something else, or of another version
        return Settings(), DEFAULTS
