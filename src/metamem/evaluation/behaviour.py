"""When do two memories behave alike? When they give the same advice; agents, when they do the same."""

from collections.abc import Iterable, Sequence

from metamem.core.ids import content_id


def advice_digest(texts: Sequence[str]) -> str:
    """Names what an agent was told in one case; empty where it was told nothing."""
    return content_id(list(texts))[:16] if any(texts) else ""


def actions_digest(actions: Iterable[str]) -> str:
    """Names what an agent did in one case."""
    return content_id("actions", list(actions))[:16]
