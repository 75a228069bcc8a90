"""Checks of the archive's contract, for whoever writes an engine. Needs no test framework.

    from metamem.store.conformance import CHECKS, check_archive

    check_archive(lambda name: MyArchive(folder / name))          # all of them, or:
    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_contract(check, tmp_path):
        check(lambda: MyArchive(tmp_path / "archive"))

Each check takes a function that opens one and the same archive each time it is called; the
archive is empty at the first call. Checks fork: run them where that is possible.
"""

from collections.abc import Callable

from metamem.store.archive import Archive
from metamem.store.conformance import calls, content, erasure, guarantees, records
from metamem.store.conformance.support import Check, Opener

CHECKS: tuple[Check, ...] = (
    *content.CHECKS,
    *records.CHECKS,
    *calls.CHECKS,
    *erasure.CHECKS,
    *guarantees.CHECKS,
)


def check_archive(factory: Callable[[str], Archive]) -> None:
    """Run every check; `factory` opens the archive of a name, a new name being a new archive."""
    for check in CHECKS:
        check(_opener(factory, check.__name__))


def _opener(factory: Callable[[str], Archive], name: str) -> Opener:
    return lambda: factory(name)


__all__ = ["CHECKS", "Check", "Opener", "check_archive"]
