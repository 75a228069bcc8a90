"""Work on a memory that may be killed, and how to see whether what it left is whole: see `bench.killed`."""

import json
import shutil
import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metamem.core.access import Caller, Scope
from metamem.core.errors import StoreError
from metamem.service import picture
from metamem.service.access.scopes import make_scope
from metamem.service.database import COMPONENTS, FILE, Database
from metamem.service.export import exported
from metamem.service.importing.keeping import Keeper
from metamem.service.importing.places import Places
from metamem.service.importing.plan import carried_out, planned
from metamem.service.importing.tables import IMPORTING
from metamem.service.reading_export import read_export
from metamem.service.recall.recaller import Recaller
from metamem.service.service import MemoryService
from metamem.service.tables import SERVICE
from metamem.service.words import Draft
from metamem.service.writing.writer import Writer
from metamem.store.schema import Component, upgrade
from metamem.store.sqlite import SqliteEngine

SCOPES = (Scope("local", "project", "one"), Scope("local", "project", "two"))
WHO = Caller("local", "bench", reads=frozenset(SCOPES), writes=frozenset(SCOPES))
PICTURE = ("facts", "fact_versions", "fact_entities", "links", "sessions", "postings")

Rows = Counter[tuple[Any, ...]]


# --- imports ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Imports:
    """Transcripts of an agent, with the facts that are made of them, and an export of another memory."""

    sessions: int = 8
    lines: int = 40
    name: str = "imports"
    checked: str = "lines, facts made of them, links, sessions, versions; none twice; redrawn alike"

    def prepare(self, folder: Path) -> None:
        home = folder / "home" / "projects" / "shop"
        home.mkdir(parents=True)
        for number in range(self.sessions):
            text = "".join(self._records(number, folder))
            (home / f"s{number}.jsonl").write_text(text, encoding="utf-8")
        with closing(_memory(folder / "other")) as other:
            texts = [f"note {n} of the other shop" for n in range(self.sessions * 20)]
            Writer(other).remember(WHO, str(SCOPES[1]), [Draft(text) for text in texts])
            lines = "".join(exported(other, WHO, [str(SCOPES[1])]))
        (folder / "export.jsonl").write_text(lines, encoding="utf-8")
        _memory(folder).close()

    def _records(self, number: int, folder: Path) -> list[str]:
        made, last = [], None
        for line in range(self.lines):
            uuid, user = f"s{number}-{line}", line % 2 == 0
            said = f"In session {number} line {line} was said."
            if line % 20 == 0:
                said = f"We decided to keep lamp {number}-{line} in hall {line}."
            content = said if user else [{"type": "text", "text": said}]
            record = {
                "parentUuid": last,
                "cwd": "/home/ada/shop",
                "sessionId": f"s{number}",
                "type": "user" if user else "assistant",
                "uuid": uuid,
                "timestamp": f"2026-08-01T10:{line // 60:02}:{line % 60:02}.000Z",
                "message": {"role": "user" if user else "assistant", "content": content},
            }
            made.append(json.dumps(record) + "\n")
            last = uuid
        return made

    def run(self, folder: Path) -> None:
        service = MemoryService(folder)
        try:
            _free_leases(service.database)
            places = Places(service.database)
            chosen = planned(
                "claude-code", places, environment={"CLAUDE_CONFIG_DIR": str(folder / "home")}
            ).chosen()
            keeper = Keeper(service.local(), places, lambda _: SCOPES[0])
            done = carried_out(chosen, keeper, lambda *_: None)
            assert not done.failed, done.failed
            with (folder / "export.jsonl").open(encoding="utf-8") as lines:
                read_export(service.database, WHO, str(SCOPES[1]), lines)
        finally:
            service.close()

    def check_killed(self, folder: Path, before: Path) -> None:
        _check_whole(folder / FILE)
        assert max(self.outcome(folder)["facts"].values(), default=1) == 1, "a fact is there twice"

    def outcome(self, folder: Path) -> dict[str, Rows]:
        with closing(Database(folder / FILE, create=False)) as database:
            _check_redrawn(database)
            with database.reading() as execute:
                of = "SELECT scope, session, position, type, text, lifecycle, trust, version"
                facts = execute(f"{of} FROM facts")
                links = execute(
                    "SELECT s.text, t.text, l.kind FROM links l JOIN facts s ON s.number = l.source"
                    " JOIN facts t ON t.number = l.target"
                )
                sessions = execute("SELECT scope, id, title, started_at, ended_at FROM sessions")
        return {"facts": Counter(facts), "links": Counter(links), "sessions": Counter(sessions)}


# --- reindex ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reindex:
    """Another embedder, and terms that other rules made."""

    facts: int = 1000
    name: str = "reindex"
    checked: str = "facts as before, every vector and every term of every fact, once"

    def prepare(self, folder: Path) -> None:
        with closing(_memory(folder)) as database:
            for place, scope in enumerate(SCOPES):
                texts = [
                    f"parcel {n} of hall {place} goes to gate {n % 7}" for n in range(self.facts)
                ]
                Writer(database).remember(WHO, str(scope), [Draft(text) for text in texts])
            recaller = Recaller(database, "hashed", background=False)
            recaller.embed_waiting()
            recaller.close()
            with database.writing() as execute:
                execute("UPDATE service_settings SET value = '1' WHERE name = 'terms'")
                execute("UPDATE postings SET term = term || 'ing' WHERE count = 1")

    def run(self, folder: Path) -> None:
        with closing(Database(folder / FILE, create=False)) as database:
            _free_leases(database)
            recaller = Recaller(database, "wordllama", background=False)
            try:
                recaller.reindex()
            finally:
                recaller.close()

    def check_killed(self, folder: Path, before: Path) -> None:
        _check_whole(folder / FILE)
        assert _table(folder, "facts") == _table(before, "facts"), "facts have changed"

    def outcome(self, folder: Path) -> dict[str, Rows]:
        with closing(Database(folder / FILE, create=False)) as database:
            with database.reading() as execute:
                vectors = execute(
                    "SELECT f.text, v.vector, e.fingerprint FROM vectors v JOIN facts f ON"
                    " f.number = v.fact JOIN embedders e ON e.number = v.embedder"
                )
                settings = execute("SELECT name, value FROM service_settings WHERE name = 'terms'")
            _check_redrawn(database)
        found = {table: _table(folder, table) for table in ("facts", "postings")}
        return found | {"vectors": Counter(vectors), "terms": Counter(settings)}


# --- upgrade ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Upgrade:
    """The schema of a next version: a column that every fact gets, an index, and a table anew."""

    facts: int = 2000
    name: str = "upgrade"
    checked: str = "old or new and nothing between; every row; the backup whole, or not there"

    @property
    def next(self) -> Component:
        step = (
            "ALTER TABLE facts ADD COLUMN weight REAL NOT NULL DEFAULT 0",
            "UPDATE facts SET weight = importance * 2",
            "CREATE INDEX facts_by_weight ON facts (scope, weight)",
            "CREATE TABLE bodies (seq INTEGER PRIMARY KEY, body TEXT NOT NULL)",
            "INSERT INTO bodies SELECT seq, body FROM event_bodies",
        )
        return Component(
            name=SERVICE.name,
            steps=[*SERVICE.steps, step],
            append_only=SERVICE.append_only,
            erasable=SERVICE.erasable,
            changeable=(*SERVICE.changeable, "bodies"),
        )

    def prepare(self, folder: Path) -> None:
        with closing(_memory(folder)) as database:
            texts = [f"parcel {n} goes to gate {n % 7}" for n in range(self.facts)]
            Writer(database).remember(WHO, str(SCOPES[0]), [Draft(text) for text in texts])

    def run(self, folder: Path) -> None:
        engine = SqliteEngine(folder / FILE, create=False)
        try:
            upgrade(engine, (self.next, IMPORTING))
        finally:
            engine.close()

    def check_killed(self, folder: Path, before: Path) -> None:
        _check_whole(folder / FILE)
        for copy in folder.glob("*.backup"):
            _check_whole(copy)
            self._check_opens(copy, before)
        with closing(sqlite3.connect(folder / FILE)) as there:
            version = there.execute(
                "SELECT MAX(version) FROM component_versions WHERE component = 'service'"
            ).fetchone()[0]
            columns = [name for _, name, *_ in there.execute("PRAGMA table_info(facts)")]
        is_new = version == self.next.newest
        assert is_new or version == SERVICE.newest
        assert ("weight" in columns) == is_new, "between two versions"
        if is_new:
            assert list(folder.glob("*.backup")), "upgraded without a backup"
        else:
            assert _tables(folder) == _tables(before), "rows have changed"

    def _check_opens(self, copy: Path, before: Path) -> None:
        """A backup is a memory of the version before, with all that it held."""
        with tempfile.TemporaryDirectory() as scratch:
            shutil.copy(copy, Path(scratch) / FILE)
            assert _tables(Path(scratch)) == _tables(before), "the backup lacks something"
            with closing(Database(Path(scratch) / FILE, create=False)) as database:
                _check_redrawn(database)

    def outcome(self, folder: Path) -> dict[str, Any]:
        try:
            Database(folder / FILE, create=False).close()
            raise AssertionError("an older program opens what a newer one has upgraded")
        except StoreError:
            pass
        (copy,) = folder.glob("*.backup")
        assert not list(folder.glob("*.part")), "half of a backup is left"
        with tempfile.TemporaryDirectory() as scratch:
            shutil.copy(copy, Path(scratch) / FILE)
            kept = {name: _table(Path(scratch), name) for name in (*PICTURE, "events")}
        return {name: _table(folder, name) for name in (*PICTURE, "events", "bodies")} | {
            f"copy of {name}": rows for name, rows in kept.items()
        }


# --- what is looked at -----------------------------------------------------------------------


def _memory(folder: Path) -> Database:
    folder.mkdir(exist_ok=True)
    database = Database(folder / FILE)
    with database.writing() as execute:
        for scope in SCOPES:
            make_scope(execute, scope)
    return database


def _free_leases(database: Database) -> None:
    """A dead process holds its leases for a while yet; nobody waits for that here."""
    with database.writing() as execute:
        execute("UPDATE jobs SET held_until = 0")
        execute("UPDATE import_places SET held_until = 0")


def _check_whole(path: Path) -> None:
    with closing(sqlite3.connect(path)) as there:
        assert there.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert there.execute("PRAGMA foreign_key_check").fetchall() == []


def _check_redrawn(database: Database) -> None:
    """The picture is what the log says."""
    with database.reading() as execute:
        before = [Counter(execute(f"SELECT * FROM {table}")) for table in PICTURE[:-1]]
    with database.writing() as execute:
        picture.redraw(execute)
    with database.reading() as execute:
        after = [Counter(execute(f"SELECT * FROM {table}")) for table in PICTURE[:-1]]
    assert before == after, "the picture is not what the log says"


def _table(folder: Path, name: str) -> Rows:
    with closing(sqlite3.connect(folder / FILE)) as there:
        return Counter(there.execute(f"SELECT * FROM {name}").fetchall())


def _tables(folder: Path) -> dict[str, Rows]:
    """All that the components of this version keep."""
    names = [name for component in COMPONENTS for name in component.tables]
    return {name: _table(folder, name) for name in names}
