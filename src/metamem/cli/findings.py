"""What `metamem doctor` says about one thing that it looked at."""

from dataclasses import dataclass
from typing import Literal

from metamem.core.errors import MetamemError

State = Literal["ok", "note", "missing", "broken"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    `note`: an option that is not there. `missing`: without it nothing can be learned. `broken`:
    it is there and does not work.
    """

    what: str
    state: State
    found: str
    advice: str = ""


def fault(what: str, state: State, error: MetamemError) -> Finding:
    return Finding(what, state, error.message, error.hint)
