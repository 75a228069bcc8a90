"""Routers that live in this process: each a cache of its log, brought up to date before it is asked."""

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from metamem.routing import Router, Settings
from metamem.routing.log import arrived
from metamem.service.database import Database

MOST_OPEN = 64


@dataclass(slots=True)
class Live:
    """A router, and how far in its log it is."""

    router: Router
    generation: int
    position: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class LiveRouters:
    """By scope, name and settings. What was erased is forgotten with the next question."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._live: OrderedDict[tuple[int, str, Settings], Live] = OrderedDict()

    def get(self, scope: int, name: str, settings: Settings) -> Live:
        """Hold its lock while it is asked."""
        with self._database.reading() as execute:
            ((generation,),) = execute("SELECT generation FROM scopes WHERE number = ?", (scope,))
            key = (scope, name, settings)
            with self._lock:
                live = self._live.get(key)
                if live is None or live.generation != generation:
                    live = self._live[key] = Live(Router(settings), generation)
                self._live.move_to_end(key)
                while len(self._live) > MOST_OPEN:
                    self._live.popitem(last=False)
            with live.lock:
                for came in arrived(execute, scope, name, live.position):
                    live.router.learn(came.context, came.arm, came.outcome, came.number)
                    live.position = came.seq
        return live
