"""Checks of the archive's contract, for whoever writes an engine. Needs no test framework.

    from metamem.store.conformance import CHECKS, ENGINE_CHECKS, check_archive, check_engine

    check_engine(lambda name: MyEngine(folder / name))            # all of them, or:
    check_archive(lambda name: MyArchive(folder / name))
    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_contract(check, tmp_path):
        check(lambda: MyArchive(tmp_path / "archive"))

Each check of an archive takes a function that opens one and the same archive each time it is
called; the archive is empty at the first call. Each check of an engine takes one that opens the
database of a name, which is empty when the name is new. Checks fork: run them where that is
possible.
"""

from collections.abc import Callable

from metamem.store.archive import Archive
from metamem.store.conformance import (
    blocks,
    calls,
    components,
    content,
    erasure,
    guarantees,
    records,
)
from metamem.store.conformance.engines import EngineCheck, EngineOpener
from metamem.store.conformance.support import Check, Opener
from metamem.store.engine import Engine

CHECKS: tuple[Check, ...] = (
    *content.CHECKS,
    *records.CHECKS,
    *calls.CHECKS,
    *erasure.CHECKS,
    *guarantees.CHECKS,
)
ENGINE_CHECKS: tuple[EngineCheck, ...] = (*blocks.CHECKS, *components.CHECKS)


def check_engine(factory: Callable[[str], Engine]) -> None:
    """Run every check of an engine; a new name is a new database."""
    for check in ENGINE_CHECKS:
        check(_named(factory, check.__name__))


def check_archive(factory: Callable[[str], Archive]) -> None:
    """Run every check; `factory` opens the archive of a name, a new name being a new archive."""
    for check in CHECKS:
        check(_opener(factory, check.__name__))


def _opener(factory: Callable[[str], Archive], name: str) -> Opener:
    return lambda: factory(name)


def _named(factory: Callable[[str], Engine], check: str) -> EngineOpener:
    return lambda name: factory(f"{check}-{name}")


__all__ = [
    "CHECKS",
    "ENGINE_CHECKS",
    "Check",
    "EngineCheck",
    "EngineOpener",
    "Opener",
    "check_archive",
    "check_engine",
]
