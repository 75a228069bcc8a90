"""With which values a template is a given value: the way back from `filled`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from metamem.foundry.words import Hole, Pieces, Template

Values = dict[str, Any]
_LONGEST, _MOST = (
    8_000,
    16,
)  # characters and holes of a text; beyond that, looking may take for ever


def unified(template: Template, value: Any, known: Values) -> Values | None:
    """The values, in agreement with those known, that make the template this value; None without any."""
    if isinstance(template, Hole):
        return _agreed(template.name, value, known)
    if isinstance(template, Pieces):
        return _unified_text(template, value, known) if isinstance(value, str) else None
    if isinstance(template, Mapping):
        if not isinstance(value, Mapping) or template.keys() != value.keys():
            return None
        return _all(((template[name], value[name]) for name in template), known)
    if isinstance(template, Sequence) and not isinstance(template, str):
        listed = isinstance(value, Sequence) and not isinstance(value, str)
        if not listed or len(template) != len(value):
            return None
        return _all(zip(template, value, strict=True), known)
    return known if type(template) is type(value) and template == value else None


def _all(pairs: Iterable[tuple[Template, Any]], known: Values) -> Values | None:
    found: Values | None = known
    for template, value in pairs:
        if found is None:
            return None
        found = unified(template, value, found)
    return found


def _agreed(name: str, value: Any, known: Values) -> Values | None:
    if name not in known:
        return {**known, name: value}
    before = known[name]
    if type(before) is type(value):
        return known if before == value else None
    # A number may stand in a text somewhere else; the number is what must be given.
    numbers = isinstance(before, str | int | float) and isinstance(value, str | int | float)
    if not numbers or str(before) != str(value):
        return None
    return known if isinstance(value, str) else {**known, name: value}


def _unified_text(template: Pieces, text: str, known: Values) -> Values | None:
    names = [part.name for part in template.parts if isinstance(part, Hole)]
    if len(text) > _LONGEST or len(names) > _MOST:
        return None
    pattern = ""
    groups: dict[str, str] = {}
    for part in template.parts:
        if isinstance(part, str):
            pattern += re.escape(part)
        elif part.name in known:
            pattern += re.escape(str(known[part.name]))
        elif part.name in groups:
            pattern += f"(?P={groups[part.name]})"
        else:
            groups[part.name] = f"v{len(groups)}"
            pattern += f"(?P<{groups[part.name]}>.*?)"
    match = re.fullmatch(pattern, text, re.DOTALL)
    if match is None:
        return None
    return {**known, **{name: match[group] for name, group in groups.items()}}
