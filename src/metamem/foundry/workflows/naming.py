"""Names for the parameters of a workflow: what the call itself calls a value, or else what kind of thing it is.

First the name of an argument or an option (`--title`, `-m`), then the kind where the values are plainly of one
(a version, a date), then what it is set to (`version = "…"`), and last text, name, path or number.
"""

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from metamem.foundry.words import ParameterKind

_SHORT_OPTIONS = {"-m": "message", "-n": "number", "-o": "output", "-b": "branch", "-t": "tag"}
_REPLACED = ("old_string", "oldString")  # what an edit takes away
_OPTION = re.compile(r"(?:^|\s)(--?[A-Za-z][\w-]*)(?:\s+|=)[\"']?$")
_ASSIGNED = re.compile(r"(?:^|[\s\"'/;,{(])([A-Za-z][A-Za-z_-]{1,30})[\"']?\s*[=:]\s*\\?[\"']?$")
_KINDS = (
    ("version", re.compile(r"v?\d+(?:\.\d+){2,3}(?:[-+.]?[A-Za-z]+[.\d]*)?")),
    ("date", re.compile(r"\d{4}-\d{2}-\d{2}")),
    ("url", re.compile(r"https?://\S+")),
    ("email", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("commit", re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}")),
)


@dataclass(frozen=True, slots=True)
class Spot:
    """A place where a value stands."""

    slot: Hashable  # of which value
    argument: str  # that it is the whole of; empty where it is a part of a text
    before: str  # what stands before it in its text; other values as `\\0`
    values: Sequence[Any]
    kind: ParameterKind  # of one of them
    each: bool  # it is a list
    within: str = ""  # the argument that it stands in


def parameter_names(spots: Iterable[Spot]) -> dict[Any, str]:
    """A name for every value, by where it stands first; no two are called the same."""
    names: dict[Any, str] = {}
    taken: set[str] = set()
    for spot in sorted(spots, key=lambda spot: spot.within in _REPLACED):
        if spot.slot in names:
            continue
        base, number = _plain(_called(spot)), 2
        if not base or base[0].isdigit() or base == "number":  # `-n` may be anything
            base = _of_kind(spot)
        name = f"old_{base}" if spot.within in _REPLACED and base in taken else base
        while name in taken:
            name, number = f"{base}{number}", number + 1
        names[spot.slot] = name
        taken.add(name)
    return names


def _called(spot: Spot) -> str:
    """What the words before a value call it; empty where they do not."""
    if spot.argument:
        return spot.argument
    option = _OPTION.search(spot.before)
    named = option[1] if option else ""
    if named:
        named = _SHORT_OPTIONS.get(named, named if named.startswith("--") else "")
    assigned = _ASSIGNED.search(spot.before)
    return named or _special(spot) or (assigned[1] if assigned else "")


def _of_kind(spot: Spot) -> str:
    single = all(isinstance(v, str) and not re.search(r"\s", v) for v in spot.values)
    name = "name" if spot.kind == "text" and single else spot.kind
    return _special(spot) or (f"{name}s" if spot.each else name)


def _special(spot: Spot) -> str:
    """The kind of thing that all values are, where they are plainly of one."""
    texts = [value for value in spot.values if isinstance(value, str)]
    if not texts or len(texts) < len(spot.values):
        return ""
    found = next((name for name, form in _KINDS if all(map(form.fullmatch, texts))), "")
    return f"{found}s" if found and spot.each else found


def _plain(said: str) -> str:
    return re.sub(r"\W+", "_", said, flags=re.ASCII).strip("_").lower()
