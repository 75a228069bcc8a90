"""The rows of one evaluation as its jobs bring them in: which are kept, and which come to nothing."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from metamem.core.types import Case, CaseResult
from metamem.evaluation.jobs import CaseDone
from metamem.evaluation.probation import PASSED, Probation, Standing
from metamem.evaluation.streaks import Streaks

OnCase = Callable[[CaseResult], None]


class Writer(Protocol):
    """Where finished cases are kept."""

    def add(self, done: CaseDone) -> None: ...

    async def finish(self) -> None: ...


class Record:
    """Shared by all jobs of an evaluation. Keeps a row when no other can make it void."""

    def __init__(
        self,
        writer: Writer,
        stored: Sequence[CaseResult] = (),
        *,
        afresh: bool = False,
        probation: Probation | None = None,
        streaks: Streaks | None = None,
        on_case: OnCase | None = None,
    ) -> None:
        """`afresh`: all is played again, such as a chain, whatever the archive holds of it."""
        self.rows = {} if afresh else {row.case: row for row in stored}
        self._stored = frozenset(row.case for row in stored)
        self._writer, self._on_case = writer, on_case
        self._probation, self._streaks = probation, streaks
        self._held: dict[Case, CaseDone] = {}
        self._void: set[Case] = set()  # stopped: what was or will be played of them is not kept
        self._watched: dict[asyncio.Event, frozenset[Case]] = {}

    @property
    def standing(self) -> Standing:
        return self._probation.standing(self.rows) if self._probation else PASSED

    def holds(self, cases: Iterable[Case]) -> bool:
        return all(case in self.rows for case in cases)

    def add(self, done: CaseDone) -> None:
        case = done.row.case
        if case in self._void:
            return
        self._count(done.row)
        self._held[case] = done
        if self._streaks is None:
            self._keep(list(self._held))
            return
        judged = self._streaks.judge(self.rows)
        first = set(self._probation.tried(self.rows)) if self._probation else set()
        self._keep([case for case in self._held if case in judged.final or case in first])
        self._stop([row for case, row in judged.stopped.items() if case not in first])

    async def finish(self) -> None:
        """All that is to be kept of what came in is in the archive when this returns."""
        await self._writer.finish()

    @contextmanager
    def watching(self, cases: Iterable[Case]) -> Iterator[asyncio.Event]:
        """An event that comes when some of these cases are stopped."""
        event = asyncio.Event()
        self._watched[event] = frozenset(cases)
        try:
            yield event
        finally:
            del self._watched[event]

    def _keep(self, cases: Sequence[Case]) -> None:
        for case in cases:
            self._writer.add(self._held.pop(case))

    def _stop(self, rows: Sequence[CaseResult]) -> None:
        new = {row.case: row for row in rows if row.case not in self._void}
        for case, row in new.items():
            if case in self._stored and case in self.rows:
                continue  # of an earlier time: what is in the archive stays as it is
            self._held.pop(case, None)
            self._void.add(case)
            self._count(row)
            if case not in self._stored:
                self._writer.add(CaseDone(row))
        for event, cases in self._watched.items():
            if not cases.isdisjoint(self._void & new.keys()):
                event.set()

    def _count(self, row: CaseResult) -> None:
        if self._on_case and row.case not in self.rows:  # what is played again was seen before
            self._on_case(row)
        self.rows[row.case] = row
