"""The ledgers that a person decides in: that of the archive at home, and that of the tools of the memory."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from metamem.cli.parts import existing_archive
from metamem.cli.screen import say, tell
from metamem.core.errors import UsageError
from metamem.core.ids import short
from metamem.promotion.ledger import Ledger
from metamem.service.home import memory_folder
from metamem.store.records import PromotionRecord
from metamem.store.sqlite import SqliteArchive

ROUTING = "routing"  # the domain whose parameters routers run with


@contextmanager
def archives(home: Path | None, *, needed: bool = True) -> Iterator[list[SqliteArchive]]:
    """Those that are there; an error where there is none and one is needed."""
    from metamem.foundry.tools.site import ARCHIVE

    tools = memory_folder() / ARCHIVE
    with ExitStack() as stack:
        found: list[SqliteArchive] = []
        try:
            found.append(stack.enter_context(existing_archive(home)))
        except UsageError:
            if needed and not tools.is_file():
                raise
        if tools.is_file() and not any(Path(each.place) == tools for each in found):
            found.append(stack.enter_context(SqliteArchive(tools, create=False)))
        yield found


@contextmanager
def ledgers(home: Path | None, *, needed: bool = True) -> Iterator[list[Ledger]]:
    with archives(home, needed=needed) as found:
        yield [Ledger(archive) for archive in found]


def tool_names(entries: list[PromotionRecord]) -> dict[str, str]:
    """What tools are called, by their ids: the ledger does not know it. Those that were erased have no
    name any more."""
    if not any(entry.subject.kind == "tool" for entry in entries):
        return {}
    from metamem.foundry.tools.site import tools_database
    from metamem.foundry.tools.store import all_names

    database = tools_database(memory_folder())
    try:
        with database.reading() as execute:
            return all_names(execute)
    finally:
        database.close()


def of_routers(decided: PromotionRecord) -> bool:
    """Whether routers run with it, or change inside it: a scope may have parameters of something else."""
    from metamem.promotion.parameters import BOUNDS
    from metamem.routing import SPACE

    what, place = decided.subject, decided.place
    if what.kind == "parameters":
        said = "values"
    elif what.kind == "policy" and what.name == BOUNDS:
        said = BOUNDS
    else:
        return False
    if place.kind != "scope":
        return place.name == ROUTING
    return not decided.evidence[said].keys() - SPACE.parameters


def tell_routers(decided: PromotionRecord, home: Path | None) -> None:
    """Let the routers of the memory know the archive in which settings of theirs, or bounds of these, were
    put into use. They would look for it only where METAMEM_HOME says."""
    from metamem.service.archives import note_archive
    from metamem.service.database import FILE, Database

    if not of_routers(decided):
        return
    folder = memory_folder()
    with existing_archive(home) as archive:
        path = Path(archive.place)
    if not (folder / FILE).exists():
        tell(
            f"there is no memory in {folder} yet: its routers will find this with"
            f" METAMEM_HOME={path.absolute().parent}"
        )
        return
    database = Database(folder / FILE, create=False)
    try:
        note_archive(database, path)
    finally:
        database.close()
    say(f"routers of the memory in {folder} follow it within seconds")


def carry_out(decided: PromotionRecord) -> None:
    """Bring a scope's tools into line with what was decided about one of them, and say what that did."""
    if decided.subject.kind != "tool" or decided.place.kind != "scope":
        return
    from metamem.foundry.tools.deploying import settle
    from metamem.foundry.tools.site import opened_site

    with opened_site(memory_folder(), decided.place.name) as site:
        done = settle(site, at=time.time_ns() // 1_000_000, folders=[Path.cwd()])
    for each in done:
        if each.what == "deployed":
            say(f"deployed as {each.name} (commit {short(each.commit)}), in running sessions, too")
            tell(f"metamem tool {each.name} --help")
        else:
            say(f"{each.what}: {each.name}")
