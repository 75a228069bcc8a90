"""Experiences as the JSON that people and programs write."""

from dataclasses import fields
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.types import Experience, Message, Step
from metamem.service import wire

_FORM = (
    'an experience is {"goal": ..., "steps": [{"action": ..., "observation": ..., "actions": [...],'
    ' "reward": ..., "done": ...}, ...], "reward": ..., "messages": [{"speaker": ..., "text": ...,'
    ' "time": ...}, ...]}; steps and messages may be lists of these values, too'
)
_PARTS = {"steps": Step, "messages": Message}


def read_experience(data: Any) -> Experience:
    """An experience of JSON that somebody sent; whatever is wrong with it is their error."""
    if isinstance(data, dict):
        long = {name: _long(kind, data[name]) for name, kind in _PARTS.items() if name in data}
        data = data | long
    try:
        found = wire.decode(Experience, data)
    except UsageError as error:
        raise UsageError(f"this is no experience: {error.message}", hint=_FORM) from None
    if found == Experience():
        raise UsageError("this is no experience: nothing is in it", hint=_FORM)
    return found


def _long(kind: type, given: Any) -> Any:
    """Steps and messages as objects, also where they travel as short lists."""
    if not isinstance(given, list):
        return given
    names = [field.name for field in fields(kind)]
    return [
        dict(zip(names, each, strict=False))
        if isinstance(each, list) and len(each) <= len(names)
        else each
        for each in given
    ]
