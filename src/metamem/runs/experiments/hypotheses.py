"""The hypotheses, as data. Each is asked only where the one before it was answered with yes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from metamem.core.errors import UnknownName

Measure = Literal["gain", "growth", "search"]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    name: str
    asks: str
    measure: Measure
    split: str  # what it is decided on
    after: str = ""  # the one that must have passed before, under the same conditions


HYPOTHESES: Mapping[str, Hypothesis] = {
    each.name: each
    for each in (
        Hypothesis("H1", "Does memory help?", "gain", "test"),
        Hypothesis(
            "H2",
            "Does memory gather what helps, over time within one group?",
            "growth",
            "shift",
            "H1",
        ),
        Hypothesis("H3", "Does a search find what people did not?", "search", "test", "H2"),
    )
}


def hypothesis(name: str) -> Hypothesis:
    if name not in HYPOTHESES:
        raise UnknownName(f"no hypothesis {name!r}", hint=f"known: {', '.join(HYPOTHESES)}")
    return HYPOTHESES[name]
