"""What a run came to in numbers: its proposals, and what it spent on models."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from metamem.core.calls import Spending
from metamem.core.protocols import Domain
from metamem.runs.config import LearnConfig
from metamem.runs.summary import SearchCounts
from metamem.runs.table import LEARNED, TableRow
from metamem.search.loop import HUMAN, Search
from metamem.store.archive import Archive
from metamem.store.records import ProposalRecord

ENOUGH = 10  # proposals for each operator, of which one should be its own by then


def search_told(
    archive: Archive, run_id: str, arm: Search, config: LearnConfig, roles_asked: Collection[str]
) -> SearchCounts:
    """What came of the search, with calls that were lost and models that nobody ever asked.

    `roles_asked` are those that this very process asked; the archive knows of earlier ones.
    """
    counts = counted(arm, archive.proposals(run_id))
    spending = archive.spending(run_id)
    asked = {spent.role for spent in spending}.union(roles_asked)
    warnings = [
        f"the model of the role {role} was never asked"
        for role in config.models
        if role not in asked
    ]
    lost = sum(spent.in_flight for spent in spending)
    if lost:
        warnings.append(
            f"{lost} calls to models were under way when an earlier process was ended; they"
            " were sent again, so they may have been billed twice"
        )
    return replace(counts, warnings=(*counts.warnings, *warnings))


def never_acted(domain: Domain, rows: Sequence[TableRow]) -> Iterator[str]:
    """Of the costs that count what must happen, those of which what was learned has none at all."""
    for name in getattr(domain, "acts", ()):
        for row in rows:
            if row.name == LEARNED and row.costs.get(name) == 0.0:
                yield f"with what was learned there were no {name} at all on {row.tasks} tasks"


def counted(arm: Search, proposals: Sequence[ProposalRecord]) -> SearchCounts:
    """What came of the proposals. Zero evaluated or zero better than its parent is a warning."""
    own = [p for p in proposals if p.operator != HUMAN]
    by_status = {s: sum(p.status == s for p in own) for s in ("accepted", "duplicate", "rejected")}
    improved = sum(o.gain is not None and o.gain > 0 for o in arm.outcomes)
    warnings: tuple[str, ...] = ()
    if not by_status["accepted"]:
        warnings = ("no proposal was new and worked: the search never searched",)
    elif not improved:
        warnings = ("no child did better than its parent: the search found nothing",)
    warnings += tuple(_idle(own, getattr(arm.proposer, "operators", ())))
    return SearchCounts(len(own), **by_status, improved=improved, warnings=warnings)


def _idle(own: Sequence[ProposalRecord], operators: Sequence[str]) -> Iterator[str]:
    """Of the operators that a proposer chooses among, those that did nothing."""
    for name in operators:
        made = [p for p in own if p.operator == name]
        if not made and len(own) >= ENOUGH * len(operators):
            yield f"the operator {name} was never asked in {len(own)} proposals"
        elif made and not any(p.status == "accepted" for p in made):
            yield f"the operator {name} made nothing new that worked in {len(made)} proposals"


def spent_on_models(archive: Archive, run_id: str) -> tuple[Spending, ...]:
    """What a run spent on models, by role and model."""
    totals: dict[tuple[str, str], Spending] = {}
    for spent in archive.spending(run_id):
        key = (spent.role, spent.model)
        totals[key] = totals[key] + spent if key in totals else spent
    return tuple(replace(spent, design_id="", run_id="") for spent in totals.values())
