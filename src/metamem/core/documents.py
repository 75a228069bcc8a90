"""JSON that others wrote, read so that whatever stands in it can be kept: outputs of tools come in it."""

import json
import math
from typing import Any

DEEPEST = 100  # levels of a document; code that goes through a deeper one runs out of stack


def read_json(text: str | bytes) -> Any:
    """What a document holds; `ValueError` where it is none or too deep. Numbers that JSON does not have are
    nothing, as JavaScript writes them."""
    try:
        read = json.loads(text, parse_constant=lambda _: None, parse_float=_finite)
    except RecursionError:
        raise ValueError("too deep") from None
    many = (
        text.count(b"[") + text.count(b"{")
        if isinstance(text, bytes)
        else (text.count("[") + text.count("{"))
    )
    if many > DEEPEST and _is_deep(read):
        raise ValueError("too deep")
    return read


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def _is_deep(read: Any) -> bool:
    level = [read]
    for _ in range(DEEPEST):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return False
    return True
