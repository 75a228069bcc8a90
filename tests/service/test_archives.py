"""An erasure finds all archives that have to do with a memory, wherever it is begun."""

from pathlib import Path

import pytest

from metamem.cli.main import run
from metamem.core.types import Design
from metamem.evaluation.origins import enter_origin
from metamem.promotion.ledger import Ledger
from metamem.report.place import report_path
from metamem.search.handoff.place import run_folder
from metamem.service.archives import FILE, ArchivesEraser, note_archive
from metamem.service.attach.places import Meeting
from metamem.service.designs.domain import ScopeDomain
from metamem.service.designs.starting import served_designs
from metamem.service.erasing import Erasing
from metamem.service.importing.keeping import scope_of
from metamem.service.service import MemoryService
from metamem.service.words import Draft
from metamem.store.records import Origin, Place, Subject
from metamem.store.sqlite import SqliteArchive

S = "local/project/shop"
WORD = "zanzibarquux"
DESIGN = Design(f"# {WORD} and more\n")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder that has no archive."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.delenv("METAMEM_HOME", raising=False)


def archive_in(home: Path) -> Path:
    """An archive with a run that learned from the scope, its report and its dossiers."""
    with SqliteArchive(home / FILE) as archive:
        archive.add_origin(Origin(S, "run", "r1"))
        archive.add_origin(Origin(S, "blob", "b1"))
        archive.put_blob("b1", WORD.encode())
        archive.add_design(DESIGN)
        place = Place("scope", S)
        Ledger(archive).promote(Subject("design", DESIGN.id), place, reason="a test", evidence={})
    for path in (report_path(home, "r1"), run_folder(home, "r1") / "dossier.md"):
        path.parent.mkdir(parents=True)
        path.write_text(WORD)
    return home / FILE


def left_in(home: Path) -> list[str]:
    """Files with the word. A design's source stays, and is in use nowhere."""
    files = [path for path in home.rglob("*") if path.is_file()]
    return [path.name for path in files if WORD.encode() in path.read_bytes()]


def waiting_in(path: Path) -> int:
    with SqliteArchive(path) as archive:
        return sum(len(each.pending) for each in Ledger(archive).all_standing())


def remembered(folder: Path) -> MemoryService:
    service = MemoryService(folder)
    service.remember(service.local_caller(), S, [Draft(f"It is called {WORD}.")])
    return service


def test_what_is_known_of_is_erased_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, here, strange = (
        archive_in(tmp_path / name) for name in ("known", "home", "work/metamem-home")
    )
    monkeypatch.setenv("METAMEM_HOME", str(here.parent))
    service = remembered(tmp_path / "memory")
    note_archive(service.database, known)
    note_archive(service.database, known)
    note_archive(service.database, tmp_path / "deleted" / FILE)
    assert ArchivesEraser(service.database).paths() == [known, here]
    counts = service.erase(service.local_caller(), S, "asked to").counts
    found = {name: counts[name] for name in ("reports", "dossiers", "designs", "archived")}
    assert found == {"reports": 2, "dossiers": 2, "designs": 2, "archived": 4}
    service.close()
    for path in (known, here):
        assert left_in(path.parent) == [FILE]
        assert waiting_in(path) == 0
        with SqliteArchive(path) as archive:
            assert archive.origins(S)
    assert len(left_in(strange.parent)) == 3 and waiting_in(strange) == 1


def test_an_interrupted_erasure_is_ended_by_whoever_opens_the_memory_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = archive_in(tmp_path / "known")
    service = remembered(tmp_path / "memory")
    note_archive(service.database, known)
    with monkeypatch.context() as patched:

        def killed(*_: object) -> None:
            raise KeyboardInterrupt

        patched.setattr(Erasing, "_elsewhere", killed)
        with pytest.raises(KeyboardInterrupt):
            service.erase(service.local_caller(), S, "asked to")
    service.close()
    assert len(left_in(known.parent)) == 3
    MemoryService(tmp_path / "memory").close()
    assert left_in(known.parent) == [FILE]


def test_the_command_erases_what_a_run_keeps_of_a_scope(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = archive_in(tmp_path / "known")
    service = remembered(tmp_path / "memory")
    note_archive(service.database, known)
    service.close()
    memory = ["--memory", str(tmp_path / "memory")]
    assert run(["erase", S, "--reason", "asked to", "--yes", *memory]) == 0
    assert left_in(known.parent) == [FILE] and waiting_in(known) == 0


async def test_an_archive_is_entered_where_something_of_a_scope_is_kept(tmp_path: Path) -> None:
    service = MemoryService(tmp_path / "memory")
    archive_in(tmp_path / "served")
    async with served_designs(service, tmp_path / "served"):
        pass
    async with served_designs(service, tmp_path / "absent"):
        pass
    domain = _Domain(tmp_path / "memory")
    with SqliteArchive(tmp_path / "learned" / FILE) as archive:
        enter_origin(archive, domain, "run", "r2")
        enter_origin(archive, object(), "run", "r3")
        assert [each.id for each in archive.origins(S)] == ["r2"]
    names = [path.parent.name for path in ArchivesEraser(service.database).paths()]
    assert names == ["learned", "served"]
    service.close()


class _Domain(ScopeDomain):
    """Of a scope that has no moments yet."""

    def __init__(self, folder: Path) -> None:
        self.origin, self._folder = S, folder


def test_pointers_of_hooks_go_with_their_scope(tmp_path: Path) -> None:
    folder, other = tmp_path / "shop", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    scope = str(scope_of(str(folder)))
    service = MemoryService(tmp_path / "memory")
    caller = service.local_caller()
    service.remember(caller, scope, [Draft("The till is green.")])
    spool = Meeting(tmp_path / "memory").spool
    spool.mkdir(parents=True)
    for name, where in (("1.pointer", folder), ("2.claimed", folder), ("3.pointer", other)):
        (spool / name).write_bytes(b"\0".join((b"claude-code", b"s", b"/t", bytes(where), b"Stop")))
    (spool / "4.pointer").write_bytes(b"spoilt")
    stone = service.erase(service.local_caller(), scope, "asked to")
    service.close()
    assert stone.counts["pointers"] == 2
    assert sorted(path.name for path in spool.iterdir()) == ["3.pointer", "4.pointer"]
