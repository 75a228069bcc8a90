"""Where a scope's served designs are decided about and kept."""

from pathlib import Path

from metamem.core.access import Scope
from metamem.promotion.ledger import Ledger
from metamem.promotion.standing import Standing
from metamem.store.records import Place, Subject

ANY_DESIGN = Subject("design", "")  # the history is that of all designs in a place


def place_of(scope: Scope) -> Place:
    return Place("scope", str(scope))


def standing_in(ledger: Ledger, scope: Scope) -> Standing:
    """What is decided about designs in a scope: what is in use, and what waits."""
    return ledger.standing(ANY_DESIGN, place_of(scope))


def snapshots_of(folder: Path, scope: Scope) -> Path:
    """The folder of the snapshots of a scope's memories, in that of the service."""
    return folder / "served" / scope.tenant / scope.kind / scope.name
