"""What is logged of queries and experiences: without secrets, of a bearable size, and well formed."""

import math
from collections.abc import Iterable
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.ids import canonical_json
from metamem.core.secrets import redact
from metamem.core.types import Experience, Query

MOST_BYTES = 256_000


def clean_query(query: Query) -> Query:
    """Whatever the caller's text holds, the design and the log see no secret of it."""
    if not query.goal.strip():
        raise UsageError("a question to memory has a goal", hint="say what is to be done")
    _check_rewards(step.reward for step in query.steps)
    found, _ = _clean(query.to_json(), "a question")
    return Query.from_json(found)


def clean_experience(experience: Experience) -> tuple[dict[str, Any], tuple[str, ...]]:
    """As JSON, and the kinds of secrets that were taken out."""
    _check_rewards([experience.reward, *(step.reward for step in experience.steps)])
    return _clean(experience.to_json(), "an experience")


def without_secrets(text: str) -> str:
    return redact(text).text


def _check_rewards(rewards: Iterable[float]) -> None:
    if not all(math.isfinite(reward) for reward in rewards):
        raise UsageError("a reward must be a finite number")


def _clean(data: dict[str, Any], what: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    if len(canonical_json(data).encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise UsageError(f"{what} holds at most {MOST_BYTES:,} bytes", hint="tell the gist of it")
    kinds: list[str] = []
    cleaned: dict[str, Any] = _walk(data, kinds)
    return cleaned, tuple(dict.fromkeys(kinds))


def _walk(value: Any, kinds: list[str]) -> Any:
    if isinstance(value, str):
        found = redact(value)
        kinds += found.kinds
        return found.text
    if isinstance(value, dict):
        return {name: _walk(each, kinds) for name, each in value.items()}
    if isinstance(value, list):
        return [_walk(each, kinds) for each in value]
    return value
