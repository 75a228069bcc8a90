"""SQLite keeps the archive's contract, and the suite notices an archive that does not."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from metamem.core.errors import StoreError
from metamem.core.types import Case, CaseResult, Design, Episode, Evaluation
from metamem.store import Archive, ProposalRecord, SqliteArchive, open_archive
from metamem.store.conformance import (
    CHECKS,
    ENGINE_CHECKS,
    Check,
    EngineCheck,
    check_archive,
    check_engine,
)
from metamem.store.engine import Execute, Guard
from metamem.store.sqlite import SqliteEngine


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_sqlite_keeps_the_contract(check: Check, tmp_path: Path) -> None:
    check(lambda: open_archive(tmp_path / "archive.db"))


@pytest.mark.parametrize("check", ENGINE_CHECKS, ids=lambda check: check.__name__)
def test_the_sqlite_engine_keeps_its_contract(check: EngineCheck, tmp_path: Path) -> None:
    check(lambda name: SqliteEngine(tmp_path / f"{name}.db"))


class Forgetful(SqliteArchive):
    def add_design(self, design: Design, *, created_by: str = "") -> bool:
        return True


class RoundsRewards(SqliteArchive):
    def evaluation(self, evaluation_id: str) -> Evaluation | None:
        found = super().evaluation(evaluation_id)
        if found is None:
            return None
        rounded = tuple(replace(row, reward=round(row.reward, 6)) for row in found.rows)
        return replace(found, rows=rounded)


class KeepsTheFirstResult(SqliteArchive):
    def add_rows(
        self,
        evaluation_id: str,
        rows: Sequence[CaseResult],
        traces: Mapping[Case, Episode] | None = None,
    ) -> int:
        there = self.evaluation(evaluation_id)
        known = {row.case for row in there.rows} if there else set()
        return super().add_rows(evaluation_id, [r for r in rows if r.case not in known], traces)


class RewritesTheJournal(SqliteArchive):
    def add_proposal(self, proposal: ProposalRecord) -> bool:
        if proposal.ordinal in {there.ordinal for there in self.proposals(proposal.run_id)}:
            return False
        return super().add_proposal(proposal)


class CanDelete(SqliteArchive):
    def delete_design(self, design_id: str) -> None: ...


@pytest.mark.parametrize(
    "broken", [Forgetful, RoundsRewards, KeepsTheFirstResult, RewritesTheJournal, CanDelete]
)
def test_the_suite_notices_a_broken_archive(broken: Any, tmp_path: Path) -> None:
    def factory(name: str) -> Archive:
        archive: Archive = broken(tmp_path / name)
        return archive

    with pytest.raises(AssertionError):
        check_archive(factory)


class ReadsAsItWrites(SqliteEngine):
    @contextmanager
    def reading(self) -> Iterator[Execute]:
        with self.writing() as execute:
            yield execute


class NeverGuards(SqliteEngine):
    def put_on(self, execute: Execute, guard: Guard) -> None: ...


class GuardsForGood(SqliteEngine):
    def take_off(self, execute: Execute, guard: Guard) -> None: ...


@pytest.mark.parametrize("broken", [ReadsAsItWrites, NeverGuards, GuardsForGood])
def test_the_suite_notices_a_broken_engine(
    broken: type[SqliteEngine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metamem.store.conformance.engines.PATIENCE", 0.2)
    with pytest.raises((AssertionError, StoreError)):
        check_engine(lambda name: broken(tmp_path / name))
