"""The first program in a gVisor sandbox: loads the libraries, makes the guest, sees how it ends."""

import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from metamem.sandbox import confine

_CHANNEL, _KEEPER = 0, 1  # the descriptors it is given


def main() -> None:
    """Started with its channel as stdin, the keeper's socket as stdout, and its task in JSON."""
    sys.modules["ssl"] = None  # type: ignore[assignment]  # no use without a network, and large
    setup = json.loads(sys.argv[1])
    for module in setup["preload"]:
        importlib.import_module(module)
    module, _, name = setup["entry"].partition(":")
    entry = getattr(importlib.import_module(module), name)
    # Two processes, so that one of them can be believed about the other's end.
    guest = os.fork()
    if guest == 0:
        _become(entry, setup)
    os.close(_CHANNEL)
    _, status, usage = os.wait4(guest, 0)
    end = {
        "code": os.waitstatus_to_exitcode(status),
        "cpu": usage.ru_utime + usage.ru_stime,
    }
    os.write(_KEEPER, json.dumps(end).encode())


def _become(entry: Callable[[], object], setup: dict[str, Any]) -> NoReturn:
    """The guest's process: confine it, run it, and never come back."""
    try:
        confine.enter_guest(
            _CHANNEL,
            _KEEPER,
            memory_bytes=setup["memory_bytes"],
            cpu_seconds=setup["cpu_seconds"],
        )
        entry()
    finally:
        os._exit(1)
