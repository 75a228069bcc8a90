"""Memory designs: programs, played beside an agent that has no memory."""

from collections.abc import Collection, Mapping, Sequence
from statistics import fmean
from typing import Any

from metamem.core.errors import DataError
from metamem.core.ids import derive_seed
from metamem.core.protocols import Domain, WorldDomain
from metamem.core.types import Design, Episode, Evaluation, Kind
from metamem.designs import library
from metamem.evaluation.jobs import Spec
from metamem.promotion.evidence import PairedGain, Rewards, Rival, paired_gain
from metamem.promotion.ledger import Ledger
from metamem.promotion.places import place_of
from metamem.search.ablation import Variant, variants
from metamem.search.evidence import evidence
from metamem.search.learnables import Blind, Deprived, Told
from metamem.search.novelty import behaviours, syntax_key
from metamem.search.proposer import Evidence
from metamem.store.records import Subject, SubjectKind


class Memories:
    kind: Kind = "code"
    subject: SubjectKind = "design"
    blind = Blind(Spec("random"), Spec("uniform"), "random recombination")
    deprivations = (
        Deprived("experience", {"experience": "none"}, decides=True),
        Deprived("order", {"experience": "scrambled"}),
    )
    copied, alike = "the same code", "the same advice"

    def promote(
        self,
        ledger: Ledger,
        design: Design,
        domain: WorldDomain,
        reason: str,
        evidence: Told,
        run_id: str,
    ) -> None:
        subject = Subject(self.subject, design.id)
        ledger.promote(subject, place_of(domain), reason=reason, evidence=evidence, run_id=run_id)

    def rule(self, domain: Domain) -> PairedGain:
        return paired_gain(domain.reward_range)

    def objection(
        self, domain: Domain, ours: Rewards, deprived: Rewards, level: float, seed: int
    ) -> str:
        """A memory whose gain does not depend on experience is none."""
        unaided = Rival("", fmean(deprived.values()), deprived)
        found = self.rule(domain).judge(ours, unaided, level=level, seed=seed)
        if found.passed:
            return ""
        return (
            f"its gain is not proven to depend on experience: with none it reaches"
            f" {unaided.mean:.3f}, with all of it {fmean(ours.values()):.3f} (experience adds"
            f" {found.gain:+.3f}, at least {found.lower_bound:+.3f})"
        )

    def settings(self, domain: WorldDomain) -> dict[str, Any]:
        return {"agent": Spec(domain.agent), "selector": Spec("niches")}

    def seeds(self, domain: WorldDomain, roles: Collection[str]) -> dict[str, Design]:
        return library.rivals(domain.baselines(), model="memory" in roles)

    def reference(self, domain: WorldDomain) -> Design:
        return library.load(library.NO_MEMORY)

    def load(self, name: str, domain: WorldDomain) -> Design:
        return library.load(name)

    def space(self, domain: WorldDomain) -> None:
        return None

    def copy_key(self, design: Design) -> str:
        """By its code; a source that cannot be read as Python equals itself alone."""
        try:
            return syntax_key(design.source)
        except (DataError, ValueError, RecursionError, MemoryError):
            return design.id

    def probes(self, tasks: Sequence[str]) -> list[str]:
        return sorted(tasks, key=lambda task: derive_seed("probe", task))

    def behaviours(
        self, evaluations: Mapping[str, Evaluation], probes: Sequence[str]
    ) -> dict[str, tuple[str, ...]]:
        return behaviours(evaluations, probes)

    def evidence(
        self, evaluation: Evaluation, kinds: Mapping[str, str], reference: Evaluation
    ) -> Evidence:
        return evidence(evaluation, kinds, reference)

    def variants(
        self, design: Design, played: Sequence[Episode], domain: WorldDomain
    ) -> list[Variant]:
        return variants(design, [advice.text for episode in played for advice in episode.advice])
