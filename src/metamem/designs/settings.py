"""Designs that can be set: a design with other settings is a design of its own, under its own id.

Such a file has a class `Settings`, a line `SETTINGS = Settings()`, and in `SETTINGS_DOMAIN` the name of the
domain of parameters that learns better ones. Its source is all that a memory is made of, so that is where
settings go: what is evaluated, kept and run in the jail says them itself.
"""

import ast
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from metamem.core.errors import DataError, UsageError
from metamem.core.types import Design

_DOMAIN = re.compile(r'^SETTINGS_DOMAIN = "([^"\n]+)"', re.MULTILINE)
_LINE = re.compile(r"^SETTINGS = Settings\(.*\)$", re.MULTILINE)


def settings_domain(design: Design) -> str:
    """The domain that learns settings for a design; empty where it has none."""
    found = _DOMAIN.search(design.source) if design.kind == "code" else None
    return found.group(1) if found else ""


def settings_of(design: Design) -> tuple[str, ...]:
    """The names of what can be set."""
    try:
        body = ast.parse(design.source).body
    except SyntaxError as error:
        raise DataError(f"the design is not Python: {error}") from error
    return tuple(
        field.target.id
        for node in body
        if isinstance(node, ast.ClassDef) and node.name == "Settings"
        for field in node.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    )


def with_settings(design: Design, values: Mapping[str, Any]) -> Design:
    """The same design with some settings; the others are as its file has them by default."""
    known = settings_of(design)
    if len(_LINE.findall(design.source)) != 1:
        raise UsageError(f"the design {design.name or design.id} cannot be set")
    if unknown := sorted(values.keys() - set(known)):
        raise UsageError(
            f"the design {design.name or design.id} has no setting {unknown[0]!r}",
            hint=f"known: {', '.join(known)}",
        )
    said = ", ".join(f"{name}={_written(name, values[name])}" for name in known if name in values)
    source = _LINE.sub(lambda _: f"SETTINGS = Settings({said})", design.source)
    return replace(design, source=source)


def _written(name: str, value: Any) -> str:
    """Plain values alone: what stands in a source is run."""
    plain = isinstance(value, bool | int | float | str)
    if not plain or (isinstance(value, float) and not math.isfinite(value)):
        raise UsageError(f"{name} must be a plain value, not {value!r}")
    return repr(value)
