"""The tasks of train that a domain keeps beyond those that an ordinary evaluation plays."""

from collections.abc import Sequence

from metamem.core.protocols import Domain
from metamem.core.types import Task


def reserve_of(domain: Domain) -> Sequence[Task]:
    """Domains that are plugged in need not know of it."""
    kept = getattr(domain, "reserve", None)
    return tuple(kept()) if kept is not None else ()
