"""Which indexes there are, and of what."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from metamem.core.errors import MetamemError, UsageError
from metamem.knowledge import place
from metamem.knowledge.database import Database


@dataclass(frozen=True, slots=True)
class Row:
    """One index. Where it cannot be read, `trouble` says why."""

    name: str
    roots: tuple[str, ...] = ()
    files: int = 0
    pieces: int = 0
    lines: int = 0
    bytes: int = 0  # on the disk
    embedder: str = ""
    trouble: str = ""


def overview(store: Path) -> list[Row]:
    return [_row(store, name) for name in place.names(store)]


def roots(store: Path, name: str) -> list[Path]:
    with Database(place.folder_of(store, name)) as database:
        return list(database.roots().values())


def meant(store: Path, named: Sequence[str], here: Path) -> tuple[list[str], list[str]]:
    """The indexes that somebody means: those named, else those of the folder worked in, else all.
    One that cannot be read keeps nobody from the others: which is left out, and why, comes second."""
    for name in named:
        place.folder_of(store, name)
    if named:
        return list(dict.fromkeys(named)), []
    known = place.names(store)
    if not known:
        raise UsageError(
            f"nothing is indexed in {store} yet", hint="begin with: metamem knowledge index PATH"
        )
    read: dict[str, list[Path]] = {}
    troubles: list[MetamemError] = []
    for name in known:
        try:
            read[name] = roots(store, name)
        except MetamemError as error:
            troubles.append(error)
    if not read:
        raise troubles[0]
    mine = [name for name, of in read.items() if any(map(here.is_relative_to, of))]
    return mine or list(read), [f"left out: {error}" for error in troubles]


def _row(store: Path, name: str) -> Row:
    folder = store / name
    size = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
    try:
        with Database(folder) as database, database.reading() as execute:
            ((files, lines),) = execute(
                "SELECT count(*), coalesce(sum(lines), 0) FROM files WHERE left_out = ''"
            )
            ((pieces,),) = execute("SELECT count(*) FROM pieces")
            return Row(
                name,
                tuple(map(str, database.roots().values())),
                files,
                pieces,
                int(lines),
                size,
                database.about("embedder").partition("#")[0],
            )
    except MetamemError as error:
        return Row(name, bytes=size, trouble=error.message)
