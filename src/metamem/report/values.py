"""A learned set of parameters beside what it was before, and what each value is worth."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metamem.core.space import Space
from metamem.core.types import Design
from metamem.runs.explanation import Worth
from metamem.search.learnables.parameters import parameter_of, shown

ABSENT = "–"  # the parameter does not hold there


@dataclass(frozen=True, slots=True)
class Value:
    """One parameter, as people read it; empty: not known."""

    name: str
    allowed: str
    default: str
    parent: str
    learned: str
    worth: Worth | None  # of the learned value against the default

    @property
    def changed(self) -> bool:
        return self.learned != self.default


def learned_values(
    learned: Design, parent: Design | None, space: Space | None, parts: Sequence[Worth]
) -> tuple[Value, ...]:
    """`space` is None where the domain is not at hand: then nothing is told of defaults."""
    now, before = json.loads(learned.source), json.loads(parent.source) if parent else None
    worth = {parameter_of(part.what): part for part in parts}
    known = space.parameters if space is not None else {}
    return tuple(
        Value(
            name=name,
            allowed=_allowed(space, name),
            default=shown(known[name].default) if name in known else "",
            parent=_told(before, name) if before is not None else "",
            learned=_told(now, name),
            worth=worth.get(name),
        )
        for name in dict.fromkeys([*known, *now])
    )


def _allowed(space: Space | None, name: str) -> str:
    if space is None or name not in space.parameters:
        return ""
    parameter = space.parameters[name]
    return f"{parameter}; {parameter.only}" if parameter.only else str(parameter)


def _told(values: Mapping[str, Any], name: str) -> str:
    return shown(values[name]) if name in values else ABSENT
