"""What is erased from the log is nowhere any more, and what others said stays."""

from pathlib import Path

import pytest

from metamem.core.access import Scope
from metamem.foundry.failures import store
from metamem.foundry.failures.suggest import before_retry
from metamem.foundry.failures.tables import FAILURES
from metamem.foundry.failures.taking import take_in
from metamem.foundry.traces import Traces
from metamem.service.database import FILE, Database
from metamem.service.service import MemoryService
from metamem.service.sight import scope_number
from metamem.service.words import Session, ToolCall

PLANTED = "zanzibar_widget"
GONE, KEPT = "local/project/gone", "local/project/kept"


def on_disk(folder: Path, word: str) -> list[str]:
    return [p.name for p in folder.rglob("*") if p.is_file() and word.encode() in p.read_bytes()]


def tell(service: MemoryService, scope: str, session: str, name: str) -> None:
    calls = [
        ToolCall("1", "Bash", {"command": f"{name} build"}, error=f"sh: {name}: command not found",
                 failed=True, exit_code=127, at=1),
        ToolCall("2", "Bash", {"command": f"npx {name} build"}, "ok", failed=False, exit_code=0, at=2),
    ]  # fmt: skip
    service.local().keep_calls(scope, Session(session, (), "codex"), calls)


@pytest.mark.parametrize("by_person", [False, True])
def test_an_erased_text_is_found_nowhere(tmp_path: Path, by_person: bool) -> None:
    service = MemoryService(tmp_path)
    tell(service, GONE, "s1", PLANTED)
    tell(service, KEPT, "s2", "gadget_maker")
    database = Database(tmp_path / FILE, also=[FAILURES])
    numbers = {}
    for scope in (GONE, KEPT):
        with database.reading() as execute:
            number = scope_number(execute, Scope.parse(scope))
        assert number is not None and take_in(database, number, now=5).occurrences == 1
        assert take_in(database, number, now=5).occurrences == 0
        numbers[scope] = number
    trace = Traces(database).trace(numbers[GONE], "s1")
    assert trace is not None
    with database.writing() as execute:
        for session in ("s1", "other"):
            assert (
                before_retry(execute, numbers[GONE], session, trace.uses[0], at=9).side != "nothing"
            )
        (known,) = store.failures(execute, numbers[GONE])
        assert PLANTED in known.text
    database.close()
    assert on_disk(tmp_path, PLANTED)
    person = service.local_caller().who if by_person else ""
    counts = service.local().erase(GONE, "somebody asked", person).counts
    assert counts["failures"] == 1 and counts["suggestions"] == 2
    assert on_disk(tmp_path, PLANTED) == []
    with service.database.reading() as execute:
        assert store.failures(execute, numbers[GONE]) == []
        (kept,) = store.failures(execute, numbers[KEPT])
        assert "gadget_maker" in store.resolutions(execute, numbers[KEPT], kept.signature)[0].text


def test_a_service_without_these_tables_erases(tmp_path: Path) -> None:
    service = MemoryService(tmp_path)
    tell(service, GONE, "s1", PLANTED)
    assert service.local().erase(GONE, "somebody asked").counts["failures"] == 0
    assert on_disk(tmp_path, PLANTED) == []
