"""Which files each session began with, noted by the daemon when a host says that one starts.

It is asked of git beside the hooks, which do not wait for it. A session whose start nobody told has
no tree; one that used tools before it was looked at has none, either.
"""

from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from metamem.core.errors import MetamemError
from metamem.service.attach.taking import take
from metamem.service.importing.keeping import scope_of
from metamem.service.service import MemoryService
from metamem.service.sight import scope_number
from metamem.service.trees import tree_known
from metamem.service.words import Session

SESSIONS = 1000  # that are remembered as looked at


class Beginnings:
    def __init__(self, service: MemoryService) -> None:
        self._service = service
        self._lock = Lock()
        self._seen: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._pool = ThreadPoolExecutor(1, "trees")

    def note(self, host: str, session: str, folder: str) -> None:
        """Look at the files of a session that is not known yet; at once, and beside the caller."""
        with self._lock:
            if not session or (host, session) in self._seen:
                return
            self._seen[host, session] = None
            while len(self._seen) > SESSIONS:
                self._seen.popitem(last=False)
        self._pool.submit(self._keep, host, session, folder)

    def close(self) -> None:
        """End when what is being looked at is kept."""
        self._pool.shutdown(cancel_futures=True)

    def _keep(self, host: str, session: str, folder: str) -> bool:
        scope = scope_of(folder)
        with self._service.database.reading() as execute:
            number = scope_number(execute, scope)
            if number is not None and tree_known(execute, number, session):
                return False
        tree = take(folder)
        if tree is None:
            return False
        try:
            caller = self._service.local_caller()
            return self._service.keep_tree(caller, str(scope), Session(session, (), host), tree)
        except MetamemError:
            return False  # a session without a tree is one that cannot be replayed, no more
