"""Under which settings of its domain something was learned: kept with the evidence, told before it is used.

A place is a domain as it is. What was learned under other settings of it was proven for those alone.
"""

import inspect
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from metamem.core import registry
from metamem.core.protocols import Domain
from metamem.core.stored import restored

UNDER = "learned_under"  # where evidence has it
AGREED = "settings_differ"  # evidence of an approval: whoever approves it knows that they do
NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Under:
    data: str = ""  # the version of the domain's data
    settings: Mapping[str, Any] = field(default_factory=dict)  # that somebody set
    usual: Mapping[str, Any] = field(
        default_factory=dict
    )  # of those that differ, what they are else

    @property
    def differs(self) -> bool:
        """Whether the domain has other settings by itself."""
        return bool(self.usual)

    @property
    def told(self) -> str:
        """What differs, in words."""
        return ", ".join(
            f"{name} = {self.settings[name]}" + (f" (not {usual})" if usual is not None else "")
            for name, usual in self.usual.items()
        )

    def evidence(self) -> dict[str, Any]:
        return {UNDER: asdict(self)}

    @staticmethod
    def of(evidence: Mapping[str, Any]) -> "Under":
        """What evidence says of it; nothing where it was learned in no domain."""
        return restored(Under, evidence.get(UNDER, NOTHING))


def learned_under(name: str, settings: Mapping[str, Any], domain: Domain) -> Under:
    """Of what is learned in a domain of that name, made with these settings.

    Those that say whose data it is are no settings of the domain: its place says that.
    """
    whose: tuple[str, ...] = getattr(domain, "whose", ())
    said = {n: value for n, value in sorted(settings.items()) if n not in whose}
    known = inspect.signature(registry.factory("domains", name)).parameters
    usual: dict[str, Any] = {}
    for each, value in said.items():
        own = known[each].default if each in known else inspect.Parameter.empty
        if own is inspect.Parameter.empty:
            usual[each] = None
        elif own != value:
            usual[each] = own if isinstance(own, int | float | str) else str(own)
    return Under(domain.version, said, usual)
