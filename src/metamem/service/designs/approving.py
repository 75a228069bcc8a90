"""Putting a design into use in a scope: what a live comparison there came to decides, or somebody
says why it can do without."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metamem.core.access import Scope
from metamem.service.database import FILE, Database
from metamem.service.designs import comparing, trials
from metamem.service.sight import scope_number
from metamem.store.records import Place


def live_evidence(folder: Path, place: Place) -> Mapping[str, Any]:
    """For `Ledger.approve`, of the memory service in a folder; empty where nothing is compared."""
    if not (folder / FILE).is_file():
        return {}
    scope = Scope.parse(place.name)
    database = Database(folder / FILE, create=False)
    try:
        with database.reading() as execute:
            number = scope_number(execute, scope)
            if number is None:
                return {}
            trial = trials.trial_of(execute, number)
            found = comparing.comparison(execute, number, str(scope), trial)
    finally:
        database.close()
    return {"comparison": dict(found.evidence())}
