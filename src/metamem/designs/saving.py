"""The state of a memory as text and back, inside the jail."""

import asyncio
import base64
import binascii
import io
import pickle
from typing import Any

from metamem.sandbox.eventloop import JailLoop
from metamem.sandbox.inside import Failure, Link

_LINK, _LOOP = "host", "loop"  # how a snapshot names what it leaves out


def save(state: Any, link: Link) -> str:
    out = io.BytesIO()
    pickler = _Pickler(out, pickle.HIGHEST_PROTOCOL)
    pickler.link = link
    try:
        pickler.dump(state)
    except MemoryError:
        raise
    except Exception as error:
        raise Failure(f"the state cannot be saved: {error}", "snapshot") from error
    return base64.b64encode(out.getbuffer()).decode()


def restore(snapshot: str, link: Link) -> Any:
    try:
        unpickler = _Unpickler(io.BytesIO(base64.b64decode(snapshot)))
        unpickler.link = link
        return unpickler.load()
    except (MemoryError, binascii.Error):
        raise
    except Exception as error:
        raise Failure(f"the state cannot be restored: {error}", "snapshot") from error


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
