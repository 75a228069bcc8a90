"""Experiences as the JSON that people and programs write."""

from typing import Any

from metamem.core.errors import UsageError
from metamem.core.types import Experience

_FORM = (
    'an experience is {"goal": ..., "steps": [[action, observation, actions, reward, done], ...],'
    ' "reward": ..., "messages": [[speaker, text, time], ...]}'
)


def read_experience(data: Any) -> Experience:
    """An experience of JSON that somebody sent; whatever is wrong with it is their error."""
    try:
        found = Experience.from_json(data)
        steps = [text for step in found.steps for text in (step.action, step.observation)]
        spoken = [text for m in found.messages for text in (m.speaker, m.text, m.time)]
        _check_texts(found.goal, found.observation, *found.actions, *steps, *spoken)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise UsageError(f"this is no experience: {error}", hint=_FORM) from None
    return found


def _check_texts(*values: Any) -> None:
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"{str(value)[:40]!r} is not text")
