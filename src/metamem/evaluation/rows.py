"""Rows are kept in batches while further cases are being played."""

import asyncio

from metamem.core.aside import aside
from metamem.core.types import Case, CaseResult, Episode
from metamem.evaluation.jobs import CaseDone
from metamem.store.facets import Evaluations

FLUSH_CASES = 20  # rows lost at most per job when the machine dies; they are played again


class RowWriter:
    """Takes finished cases of one evaluation. Without an id it keeps nothing."""

    def __init__(self, archive: Evaluations, evaluation_id: str) -> None:
        self._archive, self._evaluation_id = archive, evaluation_id
        self._rows: list[CaseResult] = []
        self._episodes: dict[Case, Episode] = {}
        self._writes: list[asyncio.Task[int]] = []

    def add(self, done: CaseDone) -> None:
        """Raises what went wrong with an earlier batch: there is no use in playing on."""
        for write in self._writes:
            if write.done():
                write.result()
        if not self._evaluation_id:
            return
        self._rows.append(done.row)
        if done.episode is not None:
            self._episodes[done.row.case] = done.episode
        if len(self._rows) >= FLUSH_CASES:
            self._flush()

    async def finish(self) -> None:
        """All that was added is kept when this returns."""
        if self._rows:
            self._flush()
        writes, self._writes = self._writes, []
        if writes:
            await asyncio.wait(writes)
        for write in writes:
            write.result()

    def _flush(self) -> None:
        rows, self._rows = self._rows, []
        episodes, self._episodes = self._episodes, {}
        work = aside(self._archive.add_rows, self._evaluation_id, rows, episodes)
        self._writes.append(asyncio.ensure_future(work))
