"""What the commands of memory share: where the memory is, and which scope is meant."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from metamem.cli import options as o
from metamem.core.errors import UsageError
from metamem.service.administers import Connected
from metamem.service.defaults import Defaults
from metamem.service.home import memory_folder

Memory = Annotated[
    Path | None,
    typer.Option(
        "--memory",
        "--home",
        metavar="DIR",
        help="The memory's folder. Default: METAMEM_MEMORY, or ~/.local/share/metamem",
    ),
]
Url = Annotated[
    str,
    typer.Option(
        metavar="URL",
        help="A server instead of a folder: http://…, or unix:PATH. Default: METAMEM_URL",
    ),
]
ApiKey = Annotated[
    str, typer.Option("--key", metavar="KEY", help="The server's API key. Default: METAMEM_KEY")
]
ScopeName = Annotated[
    str,
    typer.Option(
        "--scope",
        "-s",
        metavar="SCOPE",
        help="TENANT/KIND/NAME, KIND/NAME, or own. Default: the project of this folder",
    ),
]
ScopeNames = Annotated[
    list[str] | None,
    typer.Option(
        "--scope",
        "-s",
        metavar="SCOPE",
        help="TENANT/KIND/NAME, KIND/NAME, or own; may be given several times."
        " Default: the project of this folder, and your own",
    ),
]
Everywhere = Annotated[
    bool, typer.Option("--everywhere", help="All scopes that you may read, not just those here.")
]
FactId = Annotated[
    str,
    typer.Argument(
        metavar="FACT",
        help="A fact's id, or the end or start of it: at least eight characters.",
        show_default=False,
    ),
]
Since = Annotated[
    str, typer.Option(metavar="DATE", help="Of then or later: the time it means, else when said.")
]
Until = Annotated[str, typer.Option(metavar="DATE", help="Of a time before that.")]
Reason = Annotated[str, typer.Option(metavar="WHY", help="Why. It is kept.")]


@dataclass(frozen=True, slots=True)
class There:
    """Which memory a command is about, and how it answers."""

    memory: Memory = None
    url: Url = ""
    key: ApiKey = ""
    json: o.Json = False

    def open(self, *, begins: bool = False) -> Connected:
        """`begins`: a memory is made where none is. A folder that was mistyped is none to read."""
        from metamem.service.connecting import connect, connect_to  # it brings numpy and the index

        if self.memory is not None and self.url:
            raise UsageError("--memory names a folder and --url a server: give one of them")
        if self.memory is not None:
            return connect(self.folder(begins=begins))
        if self.url:
            return connect_to(self.url, self.key or None)
        return connect(key=self.key or None)

    @property
    def is_remote(self) -> bool:
        """Whether it is a server's."""
        return bool(self.url or (self.memory is None and os.environ.get("METAMEM_URL")))

    def folder(self, *, begins: bool = False) -> Path:
        """For what can be done only where the file is."""
        from metamem.service.database import FILE

        if self.is_remote:
            raise UsageError(
                "this is done where the memory's folder is",
                hint="run it there, without --url and METAMEM_URL",
            )
        found = memory_folder(self.memory)
        if self.memory is not None and not begins and not (found / FILE).exists():
            raise UsageError(
                f"there is no memory in {self.memory}",
                hint='metamem remember "…" begins one; without --memory it is the usual one',
            )
        return found


HERE = There()


def scopes_of(service: Connected, named: list[str] | None, everywhere: bool) -> tuple[str, ...]:
    """The scopes to read. None at all is an error: to the service that would mean every one."""
    if everywhere:
        if named:
            raise UsageError("--everywhere and --scope contradict each other")
        return ()
    found = Defaults(service, Path.cwd()).read(named or [])
    if not found:
        raise UsageError(
            "nothing is remembered for this folder yet",
            hint='metamem remember "…" begins; --everywhere looks in all scopes',
        )
    return found


def when(at: int | None) -> str:
    """A time as people read it, UTC."""
    if at is None:
        return ""
    try:
        return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):
        return str(at)
