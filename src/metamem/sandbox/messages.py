"""Lines from a jailed process, read as what they are: untrusted bytes."""

import json
import math
from typing import Any

MAX_DEPTH = 64


class BadMessage(ValueError):
    """Not a message that an honest process sends."""


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise BadMessage("a number out of range")
    return value


def _no_constant(text: str) -> float:
    raise BadMessage(f"{text} is not JSON")


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_no_constant)


def _check_depth(value: Any, left: int) -> None:
    """Shallow enough for anybody who walks it later."""
    if isinstance(value, dict):
        children: Any = value.values()
    elif isinstance(value, list):
        children = value
    else:
        return
    if not left:
        raise BadMessage(f"nested deeper than {MAX_DEPTH}")
    for child in children:
        _check_depth(child, left - 1)


def parse(line: bytes) -> dict[str, Any]:
    """One message. Whatever it holds can be written again as UTF-8 and as JSON."""
    try:
        text = line.decode()
        value = _DECODER.decode(text)
        if "\\u" in text:  # an escape may spell half a character
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise BadMessage("nested too deeply") from None
    except ValueError as error:
        raise BadMessage(str(error)) from None
    if not isinstance(value, dict):
        raise BadMessage("not an object")
    _check_depth(value, MAX_DEPTH)
    return value
