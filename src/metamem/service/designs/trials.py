"""Live comparisons: which sessions of a scope are held back, by chance, and how likely that was.

Chance is drawn for a session, by a hash of its id and the comparison's: the same session is always
on the same side, in every process. Where a call names no session, the moment is its own.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import get_args

from metamem.core.errors import UsageError
from metamem.core.ids import canonical_json
from metamem.service.database import new_id, now_ms
from metamem.service.designs.words import Against, Trial
from metamem.store.engine import Execute
from metamem.store.sql.base import insert, one_of

NO_TRIAL = Trial()


@dataclass(frozen=True, slots=True)
class Choice:
    """Which design a session is given; none where it is empty."""

    design: str
    held_back: bool = False
    propensity: float = 1.0  # how likely this side was
    comparison: str = ""


def chosen(trial: Trial, in_use: str, unit: str) -> Choice:
    if not trial.id:
        return Choice(in_use)
    if _drawn(trial.id, unit) < trial.share:
        other = trial.former if trial.against == "former" else ""
        return Choice(other, True, trial.share, trial.id)
    return Choice(trial.design, False, 1.0 - trial.share, trial.id)


def trial_of(execute: Execute, scope: int) -> Trial:
    found = execute("SELECT value FROM service_settings WHERE name = ?", (_name(scope),))
    return Trial(**json.loads(found[0][0])) if found else NO_TRIAL


def begin(
    execute: Execute, scope: int, design: str, *, share: float, against: Against, former: str
) -> Trial:
    """In the place of the one before, if there was any."""
    one_of(against, get_args(Against), "side to compare with")
    if not 0.0 < share < 1.0:
        raise UsageError(f"the share that is held back lies between 0 and 1, not at {share}")
    if against == "former" and former in ("", design):
        raise UsageError("no former design is in use here", hint="compare with nothing")
    end(execute, scope)
    trial = Trial(new_id("c"), design, share, against, former, now_ms())
    insert(
        execute,
        "service_settings",
        {"name": _name(scope), "value": canonical_json(asdict(trial))},
    )
    return trial


def end(execute: Execute, scope: int) -> bool:
    """From now on nobody is held back; whether anybody was."""
    gone = execute("DELETE FROM service_settings WHERE name = ? RETURNING 1", (_name(scope),))
    return bool(gone)


def _name(scope: int) -> str:
    return f"trial:{scope}"


def _drawn(trial: str, unit: str) -> float:
    digest = hashlib.sha256(f"{trial}\0{unit}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) / 2**64
