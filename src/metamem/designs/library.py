"""The human and the learned designs by name, and designs from files.

A package adds designs of its own through entry points of the group `metamem.designs`, each naming
the module that holds one design. The module is read as text: it is never imported here.
"""

import re
from collections.abc import Iterable
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

from metamem.core import registry
from metamem.core.errors import DataError, UnknownName
from metamem.core.types import Design

NO_MEMORY = "no_memory"
LEARNED = "learned"  # what learned designs are called: this, a slash, and their domain
_PACKAGE, _LEARNED = "metamem.designs.human", "metamem.designs.learned"
_NEEDS_MODEL = re.compile(r"^NEEDS_MODEL\s*=\s*True\b", re.MULTILINE)


def names() -> list[str]:
    """The human designs that come with metamem, and those of plug-ins."""
    return sorted({*_files(_PACKAGE), *registry.plug_ins("designs")})


def learned_names() -> list[str]:
    """The learned designs that come with metamem."""
    return [f"{LEARNED}/{stem}" for stem in _files(_LEARNED)]


def _files(package: str) -> list[str]:
    stems = (
        Path(f.name).stem for f in resources.files(package).iterdir() if f.name.endswith(".py")
    )
    return sorted(stem for stem in stems if stem != "__init__")


def is_named(name: str) -> bool:
    """Whether a design is called so, and not found by its file or its id."""
    return name in names() or name in learned_names()


def needs_model(design: Design) -> bool:
    """Whether a design says of itself that it is nothing without a language model."""
    return _NEEDS_MODEL.search(design.source) is not None


def rivals(baselines: Iterable[str], *, model: bool) -> dict[str, Design]:
    """The human designs that a learned one must beat: no memory first, then those that can run."""
    found = {name: load(name) for name in dict.fromkeys((NO_MEMORY, *baselines))}
    return {name: design for name, design in found.items() if model or not needs_model(design)}


def load(name_or_path: str | Path) -> Design:
    """A design by its name in the library, or from a Python file."""
    text = str(name_or_path)
    if module := registry.plug_ins("designs").get(text):
        spec = find_spec(module)
        if spec is None or spec.origin is None:
            raise DataError(f"the plug-in design {text!r} names no module {module!r}")
        return Design(Path(spec.origin).read_text(encoding="utf-8"), name=text)
    if text in learned_names():
        file = text.removeprefix(f"{LEARNED}/") + ".py"
        source = resources.files(_LEARNED).joinpath(file).read_text(encoding="utf-8")
        return Design(source, name=text)
    if text in names():
        source = resources.files(_PACKAGE).joinpath(f"{text}.py").read_text(encoding="utf-8")
        return Design(source, name=text)
    path = Path(text)
    if path.is_file():
        try:
            return Design(path.read_text(encoding="utf-8"), name=path.stem)
        except UnicodeDecodeError as error:
            raise DataError(f"{path} is not a text file: {error}") from error
    if path.suffix == ".py":
        raise UnknownName(f"there is no file {text}", hint="check the path")
    known = [*names(), *learned_names()]
    raise UnknownName(
        f"no design called {text!r}, and no such file",
        hint=f"{registry.guess(text, known)}known: {', '.join(known)}; or give the path of a .py file",
    )
