"""What recall does while nobody waits: vectors of new facts, and those of large scopes into memory."""

from threading import Condition, Thread

from metamem.core.errors import MetamemError
from metamem.service.database import Database
from metamem.service.recall import snapshots
from metamem.service.recall.embedding import Identity
from metamem.service.recall.index import Index
from metamem.service.recall.indexing import Indexer

STEP = 2048  # vectors after which it looks whether it should stop
SOON = 0.05  # seconds: a process that asks one question and ends reads no vectors for others
AGAIN = 1.0  # seconds after a fault, or while another process holds what is to be done


class Background:
    """One thread, begun with the first thing to do."""

    def __init__(self, database: Database, indexer: Indexer, index: Index) -> None:
        self._database = database
        self._indexer = indexer
        self._index = index
        self._news = Condition()
        self._cold: dict[int, Identity] = {}
        self._due = False
        self._closed = False
        self._thread: Thread | None = None
        self.fault = ""  # why vectors could not be made, in words

    def embed(self) -> None:
        """There are facts without vectors."""
        with self._news:
            self._due = True
            self._wake()

    def warm(self, scope: int, identity: Identity) -> None:
        """A scope was asked for whose vectors are not in memory."""
        with self._news:
            self._cold[scope] = identity
            self._wake()

    def close(self) -> None:
        with self._news:
            self._closed = True
            self._news.notify_all()
        if self._thread is not None:
            self._thread.join()
            self._indexer.release()

    def _wake(self) -> None:
        if self._thread is None and not self._closed:
            self._thread = Thread(target=self._work, name="metamem-index", daemon=True)
            self._thread.start()
        self._news.notify_all()

    def _work(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._closed or self._due or bool(self._cold))
                if self._closed:
                    return
                if len(self._cold) and self._news.wait_for(lambda: self._closed, SOON):
                    return
                cold, self._cold = self._cold, {}
                due, self._due = self._due, False
            try:
                for scope, identity in cold.items():
                    self._warm(scope, identity)
                if due:
                    self._embed()
                self.fault = ""
            except MetamemError as error:
                self.fault = error.message
                self._rest()

    def _warm(self, scope: int, identity: Identity) -> None:
        with self._database.reading() as execute:
            self._index.warm(execute, scope, identity)
        keep_snapshot(self._database, self._index, scope)

    def _embed(self) -> None:
        while not self._closed:
            done = self._indexer.run(STEP)
            if not done.waiting:
                return
            if not done.embedded:
                self._rest()  # another process is at it
                with self._news:
                    self._due = True
                return

    def _rest(self) -> None:
        with self._news:
            self._news.wait_for(lambda: self._closed, AGAIN)


def keep_snapshot(database: Database, index: Index, scope: int) -> None:
    """Keep what is in memory of a large scope for processes that begin, where they have nothing
    as new."""
    found = index.snapshot(scope)
    if found is None:
        return
    moment, catalog, names = found
    with database.reading() as execute:
        due = snapshots.is_due(execute, scope, moment, catalog.count)
    if due:
        with database.writing() as execute:
            snapshots.keep(execute, scope, moment, catalog, names)
