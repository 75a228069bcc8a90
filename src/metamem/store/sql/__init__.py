"""The archive's methods in plain SQL, for any engine."""

from types import TracebackType
from typing import Self

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
