"""Bringing an index into line with its folders: only what changed is read anew.

Every batch of files is one transaction, so an index that is killed is, file by file, either as it was
or as it is to be. What cannot be read just now is told, and what is known of it stays.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, field, replace
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from pathlib import Path
from threading import Thread

from metamem.core.errors import EngineFault, UsageError
from metamem.core.progress import Progress, Silent
from metamem.core.protocols import Embedder
from metamem.core.system import cores
from metamem.knowledge import grammars, place, snapshot
from metamem.knowledge.database import Database, Known, set_about
from metamem.knowledge.embedding import embed_missing, embedded, settle
from metamem.knowledge.reading import Read, read_many
from metamem.knowledge.walking import Found, walk
from metamem.knowledge.words import VERSION

_BATCH = 400_000  # bytes that a worker reads before it answers
_WORTH_WORKERS = 3_000_000  # bytes to read from which on further processes pay
_EXAMPLES = 5  # of what was left out, for each reason


@dataclass(slots=True)
class Report:
    """What one run did, and what is indexed after it."""

    index: str
    added: int = 0
    changed: int = 0
    removed: int = 0
    same: int = 0
    read_bytes: int = 0
    embedded: int = 0
    secrets: int = 0  # taken out of what was read
    left_out: Counter[str] = field(default_factory=Counter)  # why → how many files and folders
    examples: dict[str, list[str]] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)  # and why: what is known of them stays
    files: int = 0
    pieces: int = 0
    lines: int = 0

    def leave(self, path: str, why: str) -> None:
        self.left_out[why] += 1
        shown = self.examples.setdefault(why, [])
        if len(shown) < _EXAMPLES:
            shown.append(path)


@dataclass(frozen=True, slots=True)
class Indexer:
    """How indexing is done. `thorough` reads every file, whatever its size and time say."""

    store: Path
    embedder: Embedder | None = None
    workers: int = 0  # 0: one per core
    thorough: bool = False
    progress: Progress = field(default_factory=Silent)

    def index(self, name: str, roots: Sequence[Path] = ()) -> Report:
        """Bring an index into line; the roots are added to those that it has. It is made where there
        is none."""
        place.checked(name)
        there = (self.store / name / place.FILE).is_file()
        wanted = [_checked(root, there) for root in roots]
        if not wanted:
            place.folder_of(self.store, name)
        with place.writing(self.store, name):
            folder = self.store / name
            folder.mkdir(exist_ok=True, mode=0o700)
            empty = False
            try:
                with closing(Database(folder, create=True)) as database:
                    before = set(database.roots())
                    try:
                        return self._brought(database, name, wanted)
                    finally:
                        _leave_bare(database, before)
                        empty = not database.roots()
            finally:
                if empty:
                    place.remove(folder)

    def _brought(self, database: Database, name: str, wanted: Sequence[Path]) -> Report:
        before = database.roots()
        roots = _enter(database, wanted)
        report = Report(name)
        self._update(database, roots, report)
        if self.embedder is not None:
            report.embedded += embed_missing(database, self.embedder, self.progress)
        if report.pieces:
            self.progress.phase("making it ready for searches")
            snapshot.opened(self.store / name, database)
        bare = [str(roots[n]) for n in _bare(database) if n not in before]
        if bare:
            raise _nothing(bare, report)
        return report

    def _update(self, database: Database, roots: Mapping[int, Path], report: Report) -> None:
        cutting = f"{VERSION} {grammars.installed()}"
        anew = database.about("cutting") != cutting
        for root in roots.values():
            _checked(root, True)  # all of them, before anything is changed
        settle(database, self.embedder)
        for number, root in roots.items():
            self._update_root(database, number, root, report, anew)
        if anew:
            with database.writing() as execute:
                set_about(execute, {"cutting": cutting})
        ((report.files, lines),) = database.execute(
            "SELECT count(*), coalesce(sum(lines), 0) FROM files WHERE left_out = ''"
        )
        report.lines = int(lines)
        report.same = report.files - report.added - report.changed
        for path, why in database.execute(
            "SELECT path, left_out FROM files WHERE left_out <> '' ORDER BY path"
        ):
            report.leave(path, why)
        ((report.pieces,),) = database.execute("SELECT count(*) FROM pieces")

    def _update_root(
        self, database: Database, number: int, root: Path, report: Report, anew: bool
    ) -> None:
        self.progress.phase(f"looking through {root.name or root}")
        known = database.known(number)
        found, stays = _found(root, report, known)
        gone = [path for path in known if path not in found and not _in_any(path, stays)]
        if gone:
            database.drop(number, gone)
            report.removed += len(gone)
        todo = [
            (path, b"" if anew or path not in known else known[path].digest)
            for path, file in found.items()
            if anew or self.thorough or not _untouched(file, known.get(path))
        ]
        if not todo:
            return
        self.progress.phase("indexing", len(todo))
        sizes = [found[path].size for path, _ in todo]
        base = root if root.is_dir() else root.parent
        for batch in self._read(str(base), todo, sizes):
            self._take(database, number, batch, known, report)
            self.progress.advance(len(batch))

    def _take(
        self,
        database: Database,
        number: int,
        batch: Sequence[Read],
        known: Mapping[str, Known],
        report: Report,
    ) -> None:
        fresh = []
        for file in batch:
            if not file.digest:
                report.unreadable.append(_unread(file.path, file.left, file.path in known))
                continue
            report.read_bytes += file.size
            if file.same:
                continue
            fresh.append(self._with_vectors(file, report))
            if file.path in known:
                report.changed += not file.left
            else:
                report.added += not file.left
            report.secrets += file.secrets
        database.touch(number, [file for file in batch if file.same])
        database.put(number, fresh)

    def _with_vectors(self, file: Read, report: Report) -> Read:
        if self.embedder is None or file.left:
            return file
        report.embedded += len(file.pieces)
        return replace(file, vectors=embedded(file.path, file.pieces, self.embedder))

    def _read(
        self, root: str, todo: Sequence[tuple[str, bytes]], sizes: Sequence[int]
    ) -> Iterator[list[Read]]:
        batches: list[list[tuple[str, bytes]]] = []
        room = 0
        for each, size in zip(todo, sizes, strict=True):
            if room <= 0:
                batches.append([])
                room = _BATCH
            batches[-1].append(each)
            room -= size
        workers = min(self.workers or cores(), len(batches))
        if workers == 1 or (not self.workers and sum(sizes) < _WORTH_WORKERS):
            for batch in batches:
                yield read_many(root, batch)
            return
        try:
            # A fresh interpreter each: what this process holds (threads, locks) is not copied.
            fresh = get_context("spawn")
            with ProcessPoolExecutor(workers, fresh, initializer=_end_with_parent) as pool:
                pending = [pool.submit(read_many, root, batch) for batch in batches[: 2 * workers]]
                left = batches[: 2 * workers - 1 : -1]
                while pending:
                    done = pending.pop(0).result()
                    if left:
                        pending.append(pool.submit(read_many, root, left.pop()))
                    yield done
        except BrokenProcessPool as error:
            raise EngineFault(
                "a process that reads files died; what was finished is kept",
                hint="run the same again; --workers 1 reads them one by one",
            ) from error


def _end_with_parent() -> None:
    """A worker hears of no end: each holds the other end of the queue that it reads from. Whose parent
    was killed would wait for ever."""
    parent = parent_process()
    if parent is not None:
        Thread(target=_end_after, args=(parent.sentinel,), daemon=True).start()


def _end_after(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


def _checked(root: Path, known: bool) -> Path:
    whole = Path(os.path.realpath(root.expanduser()))
    hint = "what is indexed of it stays as it is" if known else ""
    if not whole.exists():
        raise UsageError(f"there is no file or folder {root}", hint=hint)
    if not whole.is_file() and not whole.is_dir():
        raise UsageError(f"{root} is neither a file nor a folder", hint=hint)
    if whole.is_dir() and not os.access(whole, os.R_OK | os.X_OK):
        raise UsageError(f"the folder {root} cannot be read", hint=hint)
    return whole


def _enter(database: Database, wanted: Sequence[Path]) -> dict[int, Path]:
    """The roots of an index, with new ones among them."""
    known = database.roots()
    for root in wanted:
        for other in known.values():
            if root != other and (root.is_relative_to(other) or other.is_relative_to(root)):
                raise UsageError(f"{root} and {other}, which is indexed already, overlap")
        if root not in known.values():
            with database.writing() as execute:
                execute("INSERT INTO roots (path) VALUES (?)", (str(root),))
            known = database.roots()
    return known


def _bare(database: Database) -> list[int]:
    """The roots of which nothing is indexed."""
    rows = database.execute(
        "SELECT id FROM roots WHERE id NOT IN (SELECT root FROM files WHERE left_out = '')"
    )
    return [int(row[0]) for row in rows]


def _leave_bare(database: Database, before: set[int]) -> None:
    """Roots that came to an index and brought nothing are none of it."""
    for number in _bare(database):
        if number not in before:
            with database.writing() as execute:
                execute("DELETE FROM files WHERE root = ?", (number,))
                execute("DELETE FROM roots WHERE id = ?", (number,))


def _nothing(bare: Sequence[str], report: Report) -> UsageError:
    message = f"there is nothing to index in {', '.join(bare)}"
    if report.files:
        return UsageError(message, hint="what else is of the index was brought up to date")
    why = [
        *report.unreadable[:_EXAMPLES],
        *(f"{why}: {', '.join(paths)}" for why, paths in report.examples.items()),
    ]
    hint = ""
    if "ignored" in report.examples:
        hint = "a file .metamemignore in it, with the line !*, takes in what git ignores"
    return UsageError(f"{message} ({'; '.join(why)})" if why else message, hint=hint)


def _found(
    root: Path, report: Report, known: Mapping[str, Known]
) -> tuple[dict[str, Found], list[str]]:
    """The files to index by path, and what could not be looked into."""
    found, stays = {}, []
    for each in walk(root):
        if isinstance(each, Found):
            found[each.path] = each
        elif each.unreadable:
            stays.append(each.path)
            stay = any(_in_any(path, [each.path]) for path in known)
            report.unreadable.append(_unread(each.path or str(root), each.why, stay))
        else:
            report.leave(each.path, each.why)
    return found, stays


def _in_any(path: str, places: Sequence[str]) -> bool:
    """Whether a path is one of some files, or lies in one of some folders."""
    return any(path == place or path.startswith(_folder(place)) for place in places)


def _folder(place: str) -> str:
    return place if not place or place.endswith("/") else f"{place}/"


def _unread(path: str, why: str, known: bool) -> str:
    return f"{path}: {why}" + ("; what was indexed of it stays" if known else "")


def _untouched(file: Found, known: Known | None) -> bool:
    return known is not None and (file.size, file.changed) == (known.size, known.changed)
