"""What a search must know of what it learns. Loop, gate and report are the same for all of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from metamem.core import registry
from metamem.core.protocols import Domain
from metamem.core.space import Space
from metamem.core.types import Design, Episode, Evaluation, Kind
from metamem.evaluation.jobs import Spec
from metamem.promotion.evidence import Rewards, RuleOfEvidence
from metamem.promotion.ledger import Ledger
from metamem.search.ablation import Variant
from metamem.search.proposer import Evidence
from metamem.store.records import SubjectKind

Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Blind:
    """Who searches with the same budget and without looking: what luck alone comes to."""

    proposer: Spec
    selector: Spec
    name: str  # for people


@dataclass(frozen=True, slots=True)
class Deprived:
    """The learned design played without what it should live by: what is left of its gain then, it
    brings along."""

    lacks: str  # in a word or two
    rules: Told  # what changes in the rules of play
    decides: bool = False  # whether it must do worse like this, proven on valid


class Learnable(Protocol):
    @property
    def kind(self) -> Kind: ...

    @property
    def subject(self) -> SubjectKind:
        """What a promotion of it is a promotion of."""
        ...

    def promote(
        self,
        ledger: Ledger,
        design: Design,
        domain: Any,
        reason: str,
        evidence: Told,
        run_id: str,
    ) -> None:
        """Enter that one is proven: for use in the place of its domain."""
        ...

    @property
    def blind(self) -> Blind: ...

    def rule(self, domain: Domain) -> RuleOfEvidence:
        """What the gate takes as proof that one is better than what people made."""
        ...

    @property
    def deprivations(self) -> tuple[Deprived, ...]:
        """How else a learned design is played, for its table; none where it lives by nothing."""
        ...

    def objection(
        self, domain: Domain, ours: Rewards, deprived: Rewards, level: float, seed: int
    ) -> str:
        """Why what beats people's is still not what it should be, where it does as well deprived of
        what decides; empty where it does not."""
        ...

    @property
    def copied(self) -> str:
        """What two have in common that cannot be told apart, and that behave alike: for people."""
        ...

    @property
    def alike(self) -> str: ...

    def settings(self, domain: Any) -> dict[str, Any]:
        """Of a run in which nobody says otherwise, by their names in `LearnConfig`."""
        ...

    def seeds(self, domain: Any, roles: Collection[str]) -> dict[str, Design]:
        """What people made, by name: what a search begins with and what is to be beaten.
        `roles` are those that have a model."""
        ...

    def reference(self, domain: Any) -> Design:
        """The one among the seeds that says what things are worth without learning anything."""
        ...

    def load(self, name: str, domain: Any) -> Design:
        """What people made, by its name or from a file."""
        ...

    def space(self, domain: Any) -> Space | None:
        """What there is to be set, where parameters are learned."""
        ...

    def copy_key(self, design: Design) -> str:
        """Equal for designs that cannot be told apart."""
        ...

    def probes(self, tasks: Sequence[str]) -> list[str]:
        """The tasks, in an order that tells designs apart early, on which behaviour is compared
        before anything is played; none where that cannot be."""
        ...

    def behaviours(
        self, evaluations: Mapping[str, Evaluation], probes: Sequence[str]
    ) -> dict[str, tuple[str, ...]]:
        """What known designs do on the probes, as digests in their order."""
        ...

    def evidence(
        self, evaluation: Evaluation, kinds: Mapping[str, str], reference: Evaluation
    ) -> Evidence:
        """What an evaluation tells a proposer; `kinds` maps tasks to what they are reported under.
        Rewards are given as shares of the domain's range, so that evidence is of one scale."""
        ...

    def variants(self, design: Design, played: Sequence[Episode], domain: Any) -> list[Variant]:
        """The design with one thing left out, again and again; `played` are episodes with it."""
        ...


def learnable_of(domain: Domain) -> Learnable:
    found: Learnable = registry.create("learnables", domain.kind)
    return found
