"""The model that a hosted memory asks: what it said is on record, so that a replay asks nothing."""

import tempfile
from pathlib import Path
from typing import Protocol

from metamem.core.chat import Role, Site
from metamem.core.protocols import CallSite
from metamem.core.types import Design
from metamem.models.allowance import Allowance
from metamem.models.broker import Broker
from metamem.models.config import load_config
from metamem.models.placed import PlacedChat, for_design
from metamem.store.sqlite import SqliteArchive

CALLS = "models.db"
ROLE: Role = "memory"


class Answering(Protocol):
    """A model, as one memory may ask it."""

    @property
    def fingerprint(self) -> str:
        """Names the model: what it says makes the state, so that another makes another."""
        ...

    def at(self, site: Site) -> CallSite: ...


class CallSites:
    """Where the calls of one design happen, and the model to ask there, where one is given.

    The number of an update or a retrieval is that of the experiences seen: the same question after
    the same experiences is asked once.
    """

    def __init__(self, design: Design, model: Answering | None = None) -> None:
        self._design, self._model = design, model

    @property
    def model(self) -> str:
        """The fingerprint of the model; empty for none."""
        return self._model.fingerprint if self._model is not None else ""

    def of_update(self, position: int) -> CallSite:
        """Of the experience at a position of the log: what `open_kept` is given."""
        return self._at("update", position + 1)

    def of_retrieval(self, position: int) -> CallSite:
        """Of a retrieval by a memory that has come to a position of the log."""
        return self._at("retrieve", position)

    def _at(self, phase: str, number: int) -> CallSite:
        site = Site(ROLE, design=self._design.id, phase=phase, repeat=number)
        return CallSite(site) if self._model is None else self._model.at(site)


class RecordedModel:
    """A model of the configuration for any number of memories, and what it said, in one file."""

    def __init__(
        self, name: str, folder: Path | None = None, allowance: Allowance | None = None
    ) -> None:
        """Without a folder what it says is forgotten with this."""
        models = load_config().open_roles({ROLE: [name]})
        self._scratch = tempfile.TemporaryDirectory() if folder is None else None
        place = folder if self._scratch is None else Path(self._scratch.name)
        assert place is not None
        self._archive = SqliteArchive(place / CALLS)
        self._broker = Broker(self._archive, models, run_id=ROLE, allowance=allowance)

    @property
    def fingerprint(self) -> str:
        return self._broker.fingerprints[ROLE]

    def at(self, site: Site) -> CallSite:
        return CallSite(site, for_design(PlacedChat(self._broker.ask, site)))

    async def close(self) -> None:
        await self._broker.close()
        self._archive.close()
        if self._scratch is not None:
            self._scratch.cleanup()
