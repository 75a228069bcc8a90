"""Names that a scope knows already, found in new texts however they are written there."""

from collections.abc import Iterable

from metamem.service.writing.candidates import numbered
from metamem.store.engine import Execute

AT_ONCE = 200  # phrases that one statement asks for


def known_names(execute: Execute, scope: int, phrases: Iterable[tuple[str, ...]]) -> frozenset[str]:
    """Those phrases of some texts (`entities.phrases`) that are names of earlier facts of the scope."""
    asked = sorted({phrase for several in phrases for phrase in several})
    found: set[str] = set()
    for start in range(0, len(asked), AT_ONCE):
        some = asked[start : start + AT_ONCE]
        rows = execute(
            f"SELECT at, facts FROM (WITH asked (at, name) AS (VALUES {numbered(some)}) SELECT at, (SELECT"
            " COUNT(*) FROM (SELECT 1 FROM fact_entities e WHERE e.scope = ? AND e.entity = asked.name"
            " LIMIT 2) c) AS facts FROM asked) held WHERE facts > 0",
            (*some, scope),
        )
        found |= {some[at] for at, facts in rows if facts > _before(some[at])}
    return frozenset(found)


def _before(name: str) -> int:
    """How many facts must have had a name before: a plain word may have been taken for one once."""
    return 1 if name.isalpha() else 0
