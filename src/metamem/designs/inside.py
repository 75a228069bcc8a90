"""What runs in the jail: loads a design from its source and serves its memory to the host."""

import asyncio
import base64
import binascii
import contextlib
import inspect
import io
import linecache
import os
import pickle
import random
import sys
import types
from collections.abc import Callable
from typing import Any

from metamem.core.types import Experience, Query
from metamem.designs.contract import Memory
from metamem.designs.toolbox import Tools
from metamem.sandbox.eventloop import JailLoop
from metamem.sandbox.inside import Failure, Link, last_line_in

FILENAME = "design.py"
_MODULE = "design"
_LINK, _LOOP = "host", "loop"  # how a snapshot names what it leaves out
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
        self._beside: dict[str, bytes] = {}  # what lay beside the memory when it was loaded

    async def handle(self, operation: str, data: Any) -> Any:
        if operation == "open":
            return self._open(data)
        assert self._memory is not None and self._tools is not None
        if operation == "retrieve":
            return _as_advice(await self._memory.retrieve(Query.from_json(data)))
        if operation == "update":
            await self._memory.update(Experience.from_json(data))
            return await self._tools.flush()
        assert operation == "snapshot"
        return self._snapshot()

    def forked(self, data: Any) -> None:
        if data is not None:
            assert self._tools is not None
            _seed_everything(data)
            self._tools.rng.seed(data)

    def explain(self, error: BaseException) -> str:
        said = f"{type(error).__name__}: {error}"
        if isinstance(error, SyntaxError):
            return said
        line = last_line_in(error, FILENAME)
        code = linecache.getline(FILENAME, line).strip() if line else ""
        return f"{said} (line {line} of the design: {code})" if line else said

    def _open(self, data: dict[str, Any]) -> None:
        _seed_everything(data["seed"])
        self.in_tasks = any(word in data["source"] for word in _CONCURRENT)
        kind = load(data["source"])
        self._beside = _beside()
        if data["snapshot"] is None:
            self._tools = Tools(self._link, data["seed"])
            self._memory = kind(self._tools)
        else:
            self._restore(data["snapshot"])
            self.forked(data["reseed"])

    def _snapshot(self) -> str:
        out = io.BytesIO()
        pickler = _Pickler(out, pickle.HIGHEST_PROTOCOL)
        pickler.link = self._link
        beside = _beside()
        names = sorted({*beside, *self._beside})
        changed = [name for name in names if beside.get(name) != self._beside.get(name)]
        if changed:
            raise Failure(
                f"the state cannot be saved: some of it is not in the memory, but in {changed[0]}",
                "snapshot",
            )
        try:
            pickler.dump((self._tools, self._memory, _luck()))
        except MemoryError:
            raise
        except Exception as error:
            raise Failure(f"the state cannot be saved: {error}", "snapshot") from error
        return base64.b64encode(out.getbuffer()).decode()

    def _restore(self, snapshot: str) -> None:
        try:
            unpickler = _Unpickler(io.BytesIO(base64.b64decode(snapshot)))
            unpickler.link = self._link
            self._tools, self._memory, luck = unpickler.load()
        except (MemoryError, binascii.Error):
            raise
        except Exception as error:
            raise Failure(f"the state cannot be restored: {error}", "snapshot") from error
        _set_luck(*luck)


class _Pickler(pickle.Pickler):
    link: Link

    def persistent_id(self, value: Any) -> str | None:
        if value is self.link:
            return _LINK
        return _LOOP if isinstance(value, JailLoop) else None  # kept by locks that were waited for


class _Unpickler(pickle.Unpickler):
    link: Link

    def persistent_load(self, name: Any) -> Any:
        return self.link if name == _LINK else asyncio.get_running_loop()


def _beside() -> dict[str, bytes]:
    """What the design's module and its classes hold, by name, as bytes that tell of any change.

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
                with contextlib.suppress(Exception):  # what does not pickle is no data
                    found[f"{holder}.{name}"] = pickle.dumps(value)
    return found


_urandom = random.Random()  # where the system's own luck would come from


def _seed_everything(seed: int) -> None:
    """Luck that a design takes from the standard library is the host's too."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)
    _urandom.seed(seed)
    os.urandom = _urandom.randbytes  # so that uuid4 and its like repeat
    random._urandom = os.urandom  # type: ignore[attr-defined]  # and `secrets`, and numpy's seeds


def _luck() -> tuple[Any, Any, Any]:
    numpy = sys.modules["numpy"].random.get_state() if "numpy" in sys.modules else None
    return random.getstate(), _urandom.getstate(), numpy


def _set_luck(standard: Any, system: Any, numpy: Any) -> None:
    random.setstate(standard)
    _urandom.setstate(system)
    if numpy is not None:
        import numpy as np

        np.random.set_state(numpy)


def _as_advice(value: Any) -> Any:
    if value is None or isinstance(value, str | dict):
        return value
    raise TypeError(f"retrieve() must return text or a dict, not {type(value).__name__}")
