"""What there is to import beside sessions: notes, folders of memories, and exports of other memories."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from metamem.cli.screen import remark
from metamem.core.errors import DataError, UsageError
from metamem.service.access.projects import project_of
from metamem.service.attach.answering import user_scope
from metamem.service.importing import claude, exports, notes
from metamem.service.importing.items import Piece
from metamem.service.importing.keeping import scope_of
from metamem.service.importing.sources import Source, peek

NOTES, MEMORIES = "notes", "memories"
OF_USERS = "exports of mem0 name users"
FIRST = 20  # lines by which a file is known
SOME = 10  # names that are told


@dataclass(frozen=True, slots=True)
class Found:
    """A note or an export, as it would be read."""

    source: str
    pieces: list[Piece]
    scope: str
    users: Mapping[str, int] = field(default_factory=dict)  # how many pieces each has
    damaged: int = 0  # lines or entries that cannot be read
    others: frozenset[str] = frozenset()  # keys of pieces that were not asked for


class Looking:
    """Looks through what a source names. `written` gives the scope that was asked for, or the usual one
    that it is given; `scoped` says whether one was asked for."""

    def __init__(self, written: Callable[[str], str], scoped: bool) -> None:
        self._written = written
        self._scoped = scoped

    def found(self, name: str, path: Path, user: str) -> Iterator[Found]:
        if user and (name in (NOTES, MEMORIES) or path.is_dir() or is_text(path)):
            raise UsageError(f"{name} is of no user in particular", hint=OF_USERS)
        if name == NOTES:
            here = Path.cwd()
            for file in notes.of_project(here):
                scope = self._written(str(scope_of(str(here))))
                yield Found(str(file), notes.instructions(file), scope)
            for file in notes.of_user():
                scope = self._written(str(user_scope()))
                yield Found(str(file), notes.instructions(file), scope)
        elif name == MEMORIES:
            for folder, project in _claude_memories():
                if not (project or self._scoped):
                    remark(f"{folder}: its project is not known; --scope says where to")
                    continue
                for file, pieces in notes.memories_of(folder):
                    yield Found(
                        str(file), pieces, self._written(str(scope_of(project)) if project else "")
                    )
        elif path.is_dir():
            for file, pieces in notes.memories_of(path):
                yield Found(str(file.absolute()), pieces, self._written(_here()))
        elif is_text(path):
            home = str(scope_of(str(path.absolute().parent)))
            yield Found(str(path.absolute()), notes.instructions(path), self._written(home))
        else:
            yield self._export(path, user)

    def _export(self, path: Path, user: str) -> Found:
        """An export of another memory, or what it has of one user."""
        read = exports.mcp_memory(path) if is_mcp_memory(path) else exports.mem0(path)
        pieces = list(read.pieces)
        if user:
            names = sorted(name for name in read.users if name)
            if user not in names:
                known = f"known: {some(names)}" if names else OF_USERS
                raise UsageError(f"{path} has no memories of a user {user!r}", hint=known)
            pieces = read.of(user)
        chosen = {piece.key for piece in pieces}
        return Found(
            str(path.absolute()),
            pieces,
            self._written(_here()),
            {user: len(pieces)} if user else read.users,
            read.damaged,
            frozenset(piece.key for piece in read.pieces if piece.key not in chosen),
        )


def some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SOME} more" if len(names) > SOME else ""
    return ", ".join(names[:SOME]) + more


def is_text(path: Path) -> bool:
    return path.suffix.lower() in (".md", ".markdown")


def is_mcp_memory(path: Path) -> bool:
    """Whether one of the first lines of a file, of which some may be damaged, is of such a memory."""
    try:
        with path.open("rb") as file:
            lines = [file.readline(10_000_000) for _ in range(FIRST)]
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    for line in lines:
        with suppress(ValueError, RecursionError):
            read = json.loads(line)
            if isinstance(read, dict) and read.get("type") in ("entity", "relation"):
                return True
    return False


def _claude_memories() -> Iterator[tuple[Path, str]]:
    """Claude's folders of memories, each with the project that it is of; empty for not known."""
    for folder in sorted((claude.home() / "projects").glob("*/memory")):
        sessions = (Source(claude.HOST, path) for path in sorted(folder.parent.glob("*.jsonl")))
        yield folder, next((found for each in sessions if (found := peek(each).folder)), "")


def _here() -> str:
    return str(project_of(Path.cwd()).scope)
