"""Can it be played again? Not where what it was made from was erased."""

from metamem.runs.summary import Summary
from metamem.store.archive import Archive
from metamem.store.records import ErasureRecord, RunRecord


def erasure_in_run(archive: Archive, run: RunRecord) -> ErasureRecord | None:
    """The first erasure that took something which a run would need to be played again."""
    erasures = archive.erasures()
    if not erasures:
        return None
    needed = {("run", run.id)}
    needed |= {("evaluation", p.evaluation_id or "") for p in archive.proposals(run.id)}
    tables = Summary.from_json(run.summary).tables.values()
    needed |= {("evaluation", row.evaluation) for rows in tables for row in rows}
    return next((e for e in erasures if needed.intersection(e.erased)), None)


def told(erasure: ErasureRecord) -> str:
    """Why something cannot be played again, in words."""
    return (
        f"not replayable: its data was erased on {erasure.at[:10]} by {erasure.decided_by}"
        f" ({erasure.reason})"
    )
