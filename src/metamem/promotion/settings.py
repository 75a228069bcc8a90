"""The settings that a memory of one's own runs with: those that were promoted for its design."""

from metamem.core.types import Design
from metamem.designs.settings import settings_domain, with_settings
from metamem.promotion.ledger import Ledger
from metamem.promotion.parameters import in_use
from metamem.store.records import Place


def as_in_use(design: Design, ledger: Ledger) -> Design:
    """A design with the settings that are in use for it; where there are none, as it is written."""
    domain = settings_domain(design)
    values = in_use(ledger, Place("domain", domain)) if domain else None
    return with_settings(design, values) if values is not None else design
