"""What runs in the jail: loads a design from its source and serves its memory to the host."""

import contextlib
import inspect
import linecache
import sys
import types
from collections.abc import Callable
from typing import Any

from metamem.core.types import Experience, Query
from metamem.core.waiting import Wait
from metamem.designs import luck
from metamem.designs.contract import Memory
from metamem.designs.toolbox import Tools
from metamem.designs.watched import WatchedQuery
from metamem.sandbox.inside import Failure, Link, last_line_in

FILENAME = "design.py"
_MODULE = "design"
_ALMA = "MemoStructure"  # a design written for ALMA's own repository names this base class
# Code without any of these words does not ask which task it runs in: it can do without one.
_CONCURRENT = ("asyncio", "import_module", "__import__", _ALMA)


def serve() -> None:
    """The entry point of every jailed process."""
    link = Link()
    link.serve(_Service(link))


def load(source: str) -> Callable[[Tools], Memory]:
    """What makes a design's memories: the last memory class that its file defines."""
    adopt = None
    if _ALMA in source:
        from metamem.designs import alma  # nothing of it is loaded for other designs

        adopt = alma.prepare(source, FILENAME)
    module = types.ModuleType(_MODULE)
    module.__file__ = FILENAME
    sys.modules[_MODULE] = module  # where snapshots find the design's classes
    linecache.cache[FILENAME] = (len(source), None, source.splitlines(True), FILENAME)
    exec(compile(source, FILENAME, "exec", dont_inherit=True), module.__dict__)
    if adopt is not None:
        return adopt(module)
    found = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, Memory) and value.__module__ == _MODULE
    ]
    concrete = [value for value in found if not inspect.isabstract(value)]
    if concrete:
        return concrete[-1]
    if found:
        missing = ", ".join(sorted(found[-1].__abstractmethods__))
        raise TypeError(f"{found[-1].__name__} does not define {missing}")
    raise TypeError("the file defines no subclass of metamem.designs.Memory")


class _Service:
    def __init__(self, link: Link) -> None:
        self.in_tasks = False
        self._link = link
        self._memory: Memory | None = None
        self._tools: Tools | None = None
        self._beside: dict[str, str] = {}  # what lay beside the memory when it was loaded

    async def handle(self, operation: str, data: Any) -> Any:
        if operation == "open":
            return self._open(data)
        assert self._memory is not None and self._tools is not None
        if operation == "retrieve":
            return await self._retrieve(Query.from_json(data["query"]), data["watched"])
        if operation == "update":
            await self._memory.update(Experience.from_json(data))
            return await self._tools.flush()
        if operation == "study":
            await self._memory.study([Experience.from_json(each) for each in data])
            return await self._tools.flush()
        assert operation == "snapshot"
        return self._snapshot()

    async def _retrieve(self, query: Query, watched: bool) -> list[Any]:
        assert self._memory is not None
        given = WatchedQuery.of(query) if watched else query
        advice, wait = _as_answer(await self._memory.retrieve(given))
        return [advice, wait, sorted(WatchedQuery.parts_read) if watched else None]

    def forked(self, data: Any) -> None:
        if data is not None:
            assert self._tools is not None
            luck.seed(data)
            self._tools.rng.seed(data)

    def explain(self, error: BaseException) -> str:
        said = f"{type(error).__name__}: {error}"
        if isinstance(error, SyntaxError):
            return said
        line = last_line_in(error, FILENAME)
        code = linecache.getline(FILENAME, line).strip() if line else ""
        return f"{said} (line {line} of the design: {code})" if line else said

    def _open(self, data: dict[str, Any]) -> dict[str, bool]:
        """Loads the design, and says whether it learns from the lives of others."""
        luck.seed(data["seed"])
        self.in_tasks = any(word in data["source"] for word in _CONCURRENT)
        kind = load(data["source"])
        self._beside = _beside()
        if data["snapshot"] is None:
            self._tools = Tools(self._link, data["seed"])
            self._memory = kind(self._tools)
        else:
            self._restore(data["snapshot"])
            self.forked(data["reseed"])
        assert self._memory is not None
        return {"studies": type(self._memory).study is not Memory.study}

    def _snapshot(self) -> str:
        names = sorted({*(now := _beside()), *self._beside})
        if changed := [name for name in names if now.get(name) != self._beside.get(name)]:
            raise Failure(
                f"the state cannot be saved: some of it is not in the memory, but in {changed[0]}",
                "snapshot",
            )
        from metamem.designs import saving  # loaded where needed: forks pay for what is loaded

        return saving.save((self._tools, self._memory, luck.state()), self._link)

    def _restore(self, snapshot: str) -> None:
        from metamem.designs import saving

        self._tools, self._memory, state = saving.restore(snapshot, self._link)
        luck.restore(state)


def _beside() -> dict[str, str]:
    """What the design's module and its classes hold, by name, in words that tell of a change.

    Forks carry it and snapshots do not; so where it changes, there must be no snapshot.
    """
    module = sys.modules[_MODULE]
    holders: dict[str, Any] = {_MODULE: module}
    for name, value in vars(module).items():
        if inspect.isclass(value) and value.__module__ == _MODULE:
            holders[name] = value
    found = {}
    for holder, held in holders.items():
        for name, value in vars(held).items():
            if not name.startswith("__"):
                with contextlib.suppress(Exception):  # a design's own `__repr__`, perhaps
                    found[f"{holder}.{name}"] = repr(value)
    return found


def _as_answer(value: Any) -> tuple[Any, dict[str, Any] | None]:
    if value is None or isinstance(value, str | dict):
        return value, None
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], Wait):
        return _as_answer(value[0])[0], value[1].to_json()
    raise TypeError(
        f"retrieve() must return text or a dict (or one of them and a Wait), not "
        f"{type(value).__name__}"
    )
