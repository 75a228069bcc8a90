"""How designs do in a scope, read for whoever may."""

from metamem.core.access import Caller
from metamem.service.designs import comparing, moments, trials
from metamem.service.designs.words import Standing
from metamem.service.service import MemoryService
from metamem.service.sight import sight


def standing_of(service: MemoryService, caller: Caller, scope: str) -> Standing:
    with service.database.reading() as execute:
        (number,) = sight(execute, caller, "read", [scope]).scopes
        trial = trials.trial_of(execute, number)
        compared = comparing.comparison(execute, number, scope, trial)
        return Standing(compared, moments.told(execute, number))
