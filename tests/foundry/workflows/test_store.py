"""Workflows are kept once, by scope, and counted by where they were carried out."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from metamem.core.errors import UsageError
from metamem.foundry.workflows import store
from metamem.foundry.workflows.candidates import candidates, to_write_from
from metamem.foundry.workflows.mine import mine
from metamem.foundry.workflows.tables import WORKFLOWS
from metamem.service.database import Database
from tests.foundry.workflows.planted import planted


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "memory.db", also=[WORKFLOWS])
    yield database
    database.close()


def test_mining_again_counts_nothing_twice(database: Database) -> None:
    some, more = planted(3, 8), planted(3, 14)
    with database.writing() as execute:
        store.keep(execute, 1, mine(some), some)
        (before,) = store.workflows(execute, 1)
        assert store.keep(execute, 1, mine(some), some) == 0
        assert store.workflows(execute, 1) == [before]
        store.keep(execute, 1, mine(more), more)
        (after,) = store.workflows(execute, 1)
        assert after.uses == after.successes == after.sessions == 14 >= before.uses
        assert store.current(execute, 1, before.id) == after.id
        assert store.workflows(execute, 2) == []


def test_unused_ones_are_archived_and_restored(database: Database) -> None:
    traces = planted(3)
    with database.writing() as execute:
        store.keep(execute, 1, mine(traces), traces)
        (kept,) = store.workflows(execute, 1)
        assert store.archive_unused(execute, 1, kept.last_at) == 0
        assert store.archive_unused(execute, 1, kept.last_at + 1) == 1
        assert store.workflows(execute, 1) == []
        at = kept.last_at + 10
        store.restore(execute, 1, kept.id, at=at)
        assert store.workflows(execute, 1) == [kept]
        # It counts as met when somebody brought it back: the next look does not put it away again.
        assert store.archive_unused(execute, 1, at) == 0
        assert store.workflows(execute, 1) == [kept]
        assert store.archive_unused(execute, 1, at + 1) == 1
        store.restore(execute, 1, kept.id, at=at + 1)
        assert store.archive_rest(execute, 1, 0) == 1
        with pytest.raises(UsageError):
            store.restore(execute, 1, "none", at=1)


def test_an_erased_session_leaves_nothing_of_its_values(database: Database) -> None:
    traces = planted(3)
    with database.writing() as execute:
        store.keep(execute, 1, mine(traces), traces)
        (kept,) = store.workflows(execute, 1)
        first = store.occurrences(execute, 1, kept.id)[0]
        store.erase(execute, 1, first.session)
        (left,) = store.workflows(execute, 1)
        assert left.uses == kept.uses - 1
        examples = [e for p in left.workflow.parameters for e in p.examples]
        assert not [v for v in first.values.values() if v in examples and isinstance(v, str)]
        store.erase(execute, 1)
        assert store.workflows(execute, 1) == []


def test_candidates_hold_out_cases_that_they_were_not_written_from(database: Database) -> None:
    traces = planted(3, 40)
    known = {trace.session: trace for trace in traces}
    with database.writing() as execute:
        store.keep(execute, 1, mine(traces), traces)
        (one,) = candidates(execute, 1, known.get)
    assert all(to_write_from(case) for case in one.workflow.occurrences)
    assert not any(to_write_from(case) for case in (*one.held_out, *one.unfit))
    assert len(one.held_out) >= 21
