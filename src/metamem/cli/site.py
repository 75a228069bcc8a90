"""The site of Foundry that a command is about: that of the project of this folder, or of a named scope."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from metamem.cli.memory_options import There

if TYPE_CHECKING:  # loaded when a command needs it
    from metamem.foundry.tools.site import Site


@contextmanager
def site_here(scope: str, there: There) -> "Iterator[Site | None]":
    """The site of the scope that is meant; None where nothing was ever kept there."""
    from metamem.foundry.tools.site import opened_site
    from metamem.service.connecting import open_folder
    from metamem.service.defaults import Defaults

    memory = there.folder()
    with open_folder(memory) as service:
        scopes = Defaults(service, Path.cwd()).read([scope] if scope else [])
    if not scopes:
        yield None
        return
    with opened_site(memory, scopes[0]) as site:
        yield site
