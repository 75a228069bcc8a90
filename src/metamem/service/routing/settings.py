"""Which settings a router of a scope runs with: those that the promotion ledger has in use."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from metamem.core.errors import MetamemError
from metamem.promotion.ledger import Ledger
from metamem.promotion.parameters import in_use
from metamem.routing import SPACE, Settings
from metamem.routing.settings import USUAL
from metamem.service.archives import ArchivesEraser
from metamem.service.database import Database
from metamem.store.records import Place
from metamem.store.sqlite import SqliteArchive

LOOK_EVERY = 5.0  # seconds
DOMAIN = "routing"
DEFAULTS = "defaults"


@dataclass(frozen=True, slots=True)
class Used:
    """Settings, and where they come from."""

    settings: Settings = USUAL
    origin: str = DEFAULTS
    problem: str = ""  # what is in use and cannot be used: something else runs instead


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
        problems: list[str] = []
        for place, name in (
            (Place("scope", scope), DOMAIN),
            (Place("scope", scope), ""),  # as a run of `learn` promotes them
            (Place("domain", DOMAIN), ""),
        ):
            for path in self._archives.paths():
                found, problem = _found(path, place, name)
                if found is not None:
                    return Used(found, f"{place.kind}:{place.name}", _told(problems))
                problems += [problem] if problem else []
        return Used(problem=_told(problems))


def _found(path: Path, place: Place, name: str) -> tuple[Settings | None, str]:
    """What an archive has in use at a place, or why that cannot be used. Where archives lie is no
    caller's business."""
    try:
        with SqliteArchive(path, create=False) as archive:
            values = in_use(Ledger(archive), place, name)
    except MetamemError:
        return None, "an archive cannot be read, so that no settings in it are used: metamem doctor"
    if values is None or (place.kind == "scope" and not name and values.keys() - SPACE.parameters):
        return None, ""  # nothing, or the parameters of something else
    try:
        return Settings.learned(values), ""
    except MetamemError as error:
        told = f"{place.kind}:{place.name}"
        return None, f"the settings that are in use for {told} cannot be used: {error.message}"


def _told(problems: list[str]) -> str:
    return "; ".join(dict.fromkeys(problems))
