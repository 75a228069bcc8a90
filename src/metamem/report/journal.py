"""A run's journal as a family: who descends from whom."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

from metamem.store import facets
from metamem.store.records import ProposalRecord


@dataclass(frozen=True)
class Journal:
    """The proposals of one arm of a run, in their order."""

    proposals: tuple[ProposalRecord, ...]

    @classmethod
    def read(cls, archive: facets.Journal, run_id: str) -> Self:
        return cls(tuple(archive.proposals(run_id)))

    @cached_property
    def evaluated(self) -> list[ProposalRecord]:
        """Those that became a design with a score."""
        return [p for p in self.proposals if p.design_id is not None and p.estimate is not None]

    @cached_property
    def by_design(self) -> dict[str, ProposalRecord]:
        """The entry that first brought a design."""
        found: dict[str, ProposalRecord] = {}
        for proposal in self.evaluated:
            found.setdefault(str(proposal.design_id), proposal)
        return found

    def parent(self, design_id: str) -> str | None:
        """The design that was changed, where it is of this journal, too."""
        proposal = self.by_design.get(design_id)
        if proposal is None or not proposal.parents or proposal.parents[0] not in self.by_design:
            return None
        return proposal.parents[0]

    @cached_property
    def roots(self) -> list[ProposalRecord]:
        return [p for design, p in self.by_design.items() if self.parent(design) is None]

    @cached_property
    def _children(self) -> dict[str, list[ProposalRecord]]:
        children: dict[str, list[ProposalRecord]] = {}
        for design, proposal in self.by_design.items():
            parent = self.parent(design)
            if parent is not None:
                children.setdefault(parent, []).append(proposal)
        return children

    def children(self, design_id: str) -> list[ProposalRecord]:
        return self._children.get(design_id, [])

    def lineage(self, design_id: str) -> list[str]:
        """A design and its ancestors by first parent, the design first."""
        line: list[str] = []
        current: str | None = design_id if design_id in self.by_design else None
        while current is not None and current not in line:
            line.append(current)
            current = self.parent(current)
        return line
