"""The splits by name; a wrong one is refused in the same words everywhere."""

from collections.abc import Sequence

from metamem.core.errors import UsageError
from metamem.core.types import SPLITS


def check_split(split: str, known: Sequence[str] = SPLITS) -> None:
    if split not in known:
        raise UsageError(f"no split called {split!r}", hint=f"known: {', '.join(known)}")
