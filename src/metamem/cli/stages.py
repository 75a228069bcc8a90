"""How a proposal came about, as an outline: whatever its proposer kept of each stage."""

from collections.abc import Iterator, Mapping
from typing import Any

MANY_LINES = 15  # of a text, after which only their number is told


def story(stages: Mapping[str, Any]) -> Iterator[str]:
    """What was asked of a model and answered, call by call; then whatever else was kept."""
    rest = dict(stages)
    calls = rest.pop("calls", [])
    if calls:
        yield f"written by {rest.pop('model', 'a model')}"
        rest.pop("seed", None)
    for number, call in enumerate(calls, 1):
        yield f"{number}. {call.get('stage')}, {call.get('tokens', 0)} tokens"
        went_wrong = {name: call[name] for name in ("error", "refused") if name in call}
        yield from outline(went_wrong, "   ")
        if "reply" in call:
            yield from outline(call["reply"], "   ")
    yield from outline(rest)


def outline(value: Any, indent: str = "") -> Iterator[str]:
    """The lines of plain JSON as an outline; long texts, such as code, are only counted."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _named(f"{indent}{name}:", item, indent)
    elif isinstance(value, list):
        for item in value:
            first, *rest = list(outline(item)) or [""]
            yield f"{indent}- {first}"
            yield from (f"{indent}  {line}" for line in rest)
    else:
        yield from (indent + line for line in _lines(value))


def _named(name: str, value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping | list) and value:
        yield name
        yield from outline(value, indent + "  ")
    else:
        first, *rest = _lines("none" if isinstance(value, Mapping | list) else value)
        yield f"{name} {first}"
        yield from (f"{indent}  {line}" for line in rest)


def _lines(value: Any) -> list[str]:
    lines = str(value).strip().splitlines() or [""]
    return lines if len(lines) <= MANY_LINES else [f"({len(lines)} lines; --json shows them)"]
