"""Names that a scope knows already, found in new texts however they are written there."""

from collections.abc import Iterable

from metamem.store.engine import Execute, Value

AT_ONCE = 100  # phrases that one statement asks for


def known_names(execute: Execute, scope: int, phrases: Iterable[tuple[str, ...]]) -> frozenset[str]:
    """Those phrases of some texts (`entities.phrases`) that are names of earlier facts of the scope."""
    asked = sorted({phrase for several in phrases for phrase in several})
    one = (
        "SELECT ? WHERE EXISTS"
        " (SELECT 1 FROM fact_entities WHERE scope = ? AND entity = ? LIMIT 1 OFFSET ?)"
    )
    found: set[str] = set()
    for start in range(0, len(asked), AT_ONCE):
        some = asked[start : start + AT_ONCE]
        values: list[Value] = [
            value for name in some for value in (name, scope, name, _before(name))
        ]
        found |= {row[0] for row in execute(" UNION ALL ".join([one] * len(some)), values)}
    return frozenset(found)


def _before(name: str) -> int:
    """How many facts must have had a name before: a plain word may have been taken for one once."""
    return 1 if name.isalpha() else 0
