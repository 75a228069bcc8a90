"""How designs are served, and what went wrong with them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Serving:
    """How designs are served."""

    advice_tokens: int = 1500
    most_open: int = 16  # memories at once, over all scopes
    idle_seconds: float = 600.0  # after which a memory is closed; it is opened again on demand
    patience: float = 10.0  # seconds that a call waits for a memory to be opened
    look_every: float = 2.0  # seconds for which a look at the ledger counts
    retry_seconds: float = 60.0  # after which a design that could not be opened is tried again
    isolation: str = "auto"  # of the jail
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """Something that went wrong with a design. Nobody's words are in it."""

    at: float  # seconds since 1970
    scope: str
    design: str
    what: str


USUAL = Serving()
