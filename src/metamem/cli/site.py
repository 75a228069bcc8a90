"""The site of Foundry that a command is about: that of the project of this folder, or of a named scope."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from metamem.cli.memory_options import There
from metamem.core.access import Scope
from metamem.core.errors import MetamemError, UnknownName

if TYPE_CHECKING:  # loaded when a command needs it
    from metamem.foundry.tools.site import Site


@contextmanager
def site_here(scope: str, there: There) -> "Iterator[Site | None]":
    """The site of the scope that is meant; None where nothing was ever kept there."""
    from metamem.foundry.tools.site import opened_site
    from metamem.service.connecting import open_folder
    from metamem.service.defaults import Defaults

    memory = there.folder()
    if scope:
        named = meant([scope], there)[0]
    else:
        with open_folder(memory) as service:
            scopes = Defaults(service, Path.cwd()).read()
        if not scopes:
            yield None
            return
        named = Scope.parse(scopes[0])
    with opened_site(memory, named) as site:
        yield site


def meant(names: Sequence[str], there: There) -> list[Scope]:
    """The scopes that names mean: whole ones, KIND/NAME, and a project by the name of its folder or the start
    of the scope's, where only one is called so."""
    from metamem.service.connecting import open_folder
    from metamem.service.defaults import full

    with open_folder(there.folder()) as service:
        me = service.administration.me()
        return [_meant(name, me.reads, lambda name: full(name, me)) for name in names]


def _meant(name: str, known: Sequence[str], whole: Callable[[str], Scope]) -> Scope:
    found = [scope for scope in known if _begins(scope, name)]
    try:
        exact = whole(name)
    except MetamemError:
        exact = None
    if exact is not None and (str(exact) in known or not found):
        return exact
    # The name of a folder, before the mark that tells two folders of one name apart.
    named = [scope for scope in found if scope.rpartition("-")[0].endswith(f"/{_last(name)}")]
    fitting = named if len(named) == 1 else found
    if len(fitting) != 1:
        hint = (
            f"say which: {', '.join(sorted(fitting))}" if fitting else "metamem scopes lists them"
        )
        count = f"{len(fitting)} scopes begin so" if fitting else "no scope is called so"
        raise UnknownName(f"{name!r}: {count}", hint=hint)
    return Scope.parse(fitting[0])


def _begins(scope: str, name: str) -> bool:
    """Whether a scope's name begins so, with as many of its parts as are given."""
    parts, given = scope.split("/"), name.split("/")
    tail = parts[-len(given) :] if len(given) <= len(parts) else []
    return (
        bool(given[-1])
        and tail[:-1] == given[:-1]
        and bool(tail)
        and tail[-1].startswith(given[-1])
    )


def _last(name: str) -> str:
    return name.rpartition("/")[2]
