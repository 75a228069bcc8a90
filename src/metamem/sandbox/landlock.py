"""Landlock: which files a process may still read. Everything else, and all writing, is refused."""

import os
import struct
from collections.abc import Iterable
from pathlib import Path

from metamem.sandbox import libc

_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_PATH_BENEATH = 1
_VERSION = 1
_TCP = 0b11  # bind and connect
_SCOPES = 0b11  # abstract unix sockets and signals to processes outside
_RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # how many file rights each version knows


def abi() -> int:
    """The version this kernel offers; 0 where it offers none."""
    try:
        return libc.syscall("landlock_create_ruleset", None, 0, _VERSION)
    except OSError:
        return 0


def ruleset(readable: Iterable[Path]) -> int:
    """A descriptor of the rules: files below `readable` may be read, nothing else be done."""
    version = abi()
    handled = (1 << _RIGHTS_BY_ABI[min(version, max(_RIGHTS_BY_ABI))]) - 1
    fields = [handled, *([_TCP] if version >= 4 else []), *([_SCOPES] if version >= 6 else [])]
    attributes = libc.buffer(struct.pack(f"={len(fields)}Q", *fields))
    descriptor = libc.syscall("landlock_create_ruleset", attributes, len(attributes), 0)
    for path in readable:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rights = _READ_FILE | _READ_DIR if path.is_dir() else _READ_FILE
        rule = libc.buffer(struct.pack("=Qi", rights, place))
        libc.syscall("landlock_add_rule", descriptor, _PATH_BENEATH, rule, 0)
        os.close(place)
    return descriptor


def enforce(descriptor: int) -> None:
    """Bind this process, and all it ever forks, to the rules."""
    libc.syscall("landlock_restrict_self", descriptor, 0)
