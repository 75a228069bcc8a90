"""Can it be played again? Not where what it was made from was erased."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from metamem.store.facets import Erasures, Journal
from metamem.store.records import ErasureRecord, RunRecord


class _Records(Journal, Erasures, Protocol): ...


def erasure_in_run(archive: _Records, run: RunRecord) -> ErasureRecord | None:
    """The first erasure that took something which a run would need to be played again."""
    erasures = archive.erasures()
    if not erasures:
        return None
    needed = {("run", run.id)}
    needed |= {("evaluation", p.evaluation_id or "") for p in archive.proposals(run.id)}
    needed |= {("evaluation", shown) for shown in _shown(run.summary)}
    return next((e for e in erasures if needed.intersection(e.erased)), None)


def told(erasure: ErasureRecord) -> str:
    """Why something cannot be played again, in words."""
    return (
        f"not replayable: its data was erased on {erasure.at[:10]} by {erasure.decided_by}"
        f" ({erasure.reason})"
    )


def _shown(summary: Mapping[str, Any]) -> Iterable[str]:
    """The evaluations that a run's tables are of."""
    return (row["evaluation"] for rows in summary.get("tables", {}).values() for row in rows)
