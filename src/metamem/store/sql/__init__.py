"""The archive's methods in plain SQL, for any engine."""

from types import TracebackType
from typing import Self

from metamem.store.sql.calls import Calls
from metamem.store.sql.contents import Contents
from metamem.store.sql.designs import Designs
from metamem.store.sql.evaluations import Evaluations
from metamem.store.sql.ledgers import Ledgers
from metamem.store.sql.runs import Runs


class SqlArchive(Designs, Runs, Evaluations, Contents, Calls, Ledgers):
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
