"""Serving designs beside a memory service: what `metamem serve` and the command line open."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from metamem.api import find_design, home_folder
from metamem.core.access import Scope
from metamem.core.aside import aside
from metamem.core.errors import UsageError
from metamem.core.types import Design
from metamem.designs.library import is_named
from metamem.models.allowance import Allowance
from metamem.service.archives import FILE, note_archive
from metamem.service.designs.served import ServedDesigns
from metamem.service.designs.serving import USUAL, Serving
from metamem.service.metered import Metered, PaidModel, metered
from metamem.service.service import MemoryService
from metamem.store.sqlite import SqliteArchive


@asynccontextmanager
async def served_designs(
    service: MemoryService,
    home: str | Path | None = None,
    *,
    design: str = "",
    scope: str = "",
    create: bool = False,
    serving: Serving = USUAL,
    model: str | Metered = "",
    allowance: Allowance | None = None,
) -> AsyncIterator[ServedDesigns]:
    """The designs that the archive at `home` has in use, and a named one for one scope. What the
    archive keeps of a scope is erased with it from now on. Where there is no archive, nothing was
    ever decided, and none is made unless `create` asks for it.

    `model` answers designs that ask one, within an `allowance` for all that this memory ever asks; or
    it is open already, and asked by others, too.
    """
    if bool(design) != bool(scope):
        raise UsageError("a design is named for a scope", hint="give both --design and --scope")
    folder = home_folder(home)
    async with AsyncExitStack() as held:
        if isinstance(model, Metered):
            opened: Metered | None = model
        else:
            paid = PaidModel(model, allowance or Allowance())
            opened = (
                await held.enter_async_context(metered(service.database, paid)) if model else None
            )
        archive = await aside(_archive, service, folder, create, held)
        named: dict[str, Design] = {}
        settable: tuple[str, ...] = ()
        if design:
            found = await aside(find_design, design, archive)
            named = {str(Scope.parse(scope)): found}
            settable = (found.id,) if is_named(design) else ()
        async with ServedDesigns(
            service, archive, named=named, settable=settable, serving=serving, model=opened
        ) as served:
            yield served


def _archive(
    service: MemoryService, folder: Path, create: bool, held: AsyncExitStack
) -> SqliteArchive:
    path = folder / FILE
    if create or path.is_file():
        note_archive(service.database, path)
    else:
        path = Path(held.enter_context(TemporaryDirectory())) / path.name
    return held.enter_context(SqliteArchive(path))
