"""The archive's methods in plain SQL, for any engine."""

from collections.abc import Mapping
from types import TracebackType
from typing import Self

from metamem.store.schema import versions
from metamem.store.sql.calls import Calls
from metamem.store.sql.contents import Contents
from metamem.store.sql.designs import Designs
from metamem.store.sql.erasures import Erasures
from metamem.store.sql.evaluations import Evaluations
from metamem.store.sql.promotions import Promotions
from metamem.store.sql.reads import Reads
from metamem.store.sql.runs import Runs


class SqlArchive(Designs, Runs, Evaluations, Contents, Calls, Promotions, Reads, Erasures):
    """An archive on an engine whose schema is up to date."""

    @property
    def place(self) -> str:
        return self._engine.place

    def components(self) -> Mapping[str, int]:
        with self._engine.reading() as execute:
            return versions(self._engine, execute)

    def close(self) -> None:
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
