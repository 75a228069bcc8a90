"""Where something that was learned in a domain is put into use."""

from metamem.core.protocols import Domain
from metamem.store.records import Place


def origin_of(domain: Domain) -> str:
    """The scope whose data a domain's tasks are; empty where they are nobody's."""
    found: str = getattr(domain, "origin", "")
    return found


def place_of(domain: Domain) -> Place:
    """The scope that the tasks come from, or the domain itself."""
    origin = origin_of(domain)
    return Place("scope", origin) if origin else Place("domain", domain.name)
