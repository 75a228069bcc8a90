"""Sets of parameters, played beside the defaults of their space."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from metamem.core.errors import DataError, UnknownName, UsageError
from metamem.core.protocols import Domain, ParamsDomain
from metamem.core.space import Space
from metamem.core.types import Design, Episode, Evaluation, Kind
from metamem.evaluation.jobs import Spec
from metamem.promotion.evidence import PairedGain, Rewards, paired_gain
from metamem.promotion.ledger import Ledger
from metamem.promotion.parameters import change
from metamem.promotion.places import place_of
from metamem.search.ablation import Variant
from metamem.search.learnables import Blind, Deprived, Told
from metamem.search.proposer import Evidence
from metamem.store.records import SubjectKind

DEFAULTS = "defaults"
_IS = " = "
USUAL: dict[str, Any] = {
    "agent": Spec(""),  # nobody acts
    "proposer": Spec("gaussian"),
    "selector": Spec(
        "greedy", {"most": 1}
    ),  # values are near or far, so the best is worth its steps
}


class Parameters:
    kind: Kind = "params"
    subject: SubjectKind = "parameters"
    blind = Blind(Spec("sample"), Spec("uniform"), "random values")
    deprivations: tuple[Deprived, ...] = ()
    copied = alike = "the same values"

    def promote(
        self,
        ledger: Ledger,
        design: Design,
        domain: ParamsDomain,
        reason: str,
        evidence: Told,
        run_id: str,
    ) -> None:
        """In use at once where a person approved bounds in which it lies."""
        values = json.loads(design.source)
        change(
            ledger,
            values,
            place_of(domain),
            reason=reason,
            evidence=evidence,
            defaults=domain.space.defaults(),
            run_id=run_id,
        )

    def rule(self, domain: Domain) -> PairedGain:
        return paired_gain(domain.reward_range)

    def objection(
        self, domain: Domain, ours: Rewards, deprived: Rewards, level: float, seed: int
    ) -> str:
        return ""

    def settings(self, domain: ParamsDomain) -> dict[str, Any]:
        return dict(USUAL)

    def seeds(self, domain: ParamsDomain, roles: Collection[str]) -> dict[str, Design]:
        names = dict.fromkeys((DEFAULTS, *domain.baselines()))
        return {name: self.load(name, domain) for name in names}

    def reference(self, domain: ParamsDomain) -> Design:
        return self.load(DEFAULTS, domain)

    def load(self, name: str, domain: ParamsDomain) -> Design:
        if name == DEFAULTS:
            return domain.space.design(domain.space.defaults(), name)
        if name in domain.baselines():
            return domain.space.design(domain.preset(name), name)
        path = Path(name)
        if path.is_file():
            return self._from_file(path, domain.space)
        known = ", ".join((DEFAULTS, *domain.baselines()))
        raise UnknownName(
            f"no set of parameters called {name!r}, and no such file",
            hint=f"known: {known}; or give the path of a .json file",
        )

    def space(self, domain: ParamsDomain) -> Space:
        return domain.space

    def copy_key(self, design: Design) -> str:
        return design.id

    def probes(self, tasks: Sequence[str]) -> list[str]:
        return []

    def behaviours(
        self, evaluations: Mapping[str, Evaluation], probes: Sequence[str]
    ) -> dict[str, tuple[str, ...]]:
        return {}

    def evidence(
        self, evaluation: Evaluation, kinds: Mapping[str, str], reference: Evaluation
    ) -> Evidence:
        rows = evaluation.rows
        if not rows:
            return Evidence()
        by_kind: dict[str, list[float]] = {}
        for row in rows:
            by_kind.setdefault(kinds.get(row.task_id, ""), []).append(row.reward)
        return Evidence(
            mean_reward=evaluation.reward,
            errors=sum(bool(row.failure) for row in rows) / len(rows),
            error=next((row.failure for row in rows if row.failure), ""),
            reward_by_kind={kind: fmean(rewards) for kind, rewards in sorted(by_kind.items())},
            cases=len(rows),
        )

    def variants(
        self, design: Design, played: Sequence[Episode], domain: ParamsDomain
    ) -> list[Variant]:
        """Each value set back to its default."""
        space, values = domain.space, domain.space.read(design)
        defaults = space.defaults()
        made = []
        for name, value in values.items():
            default = space.parameters[name].default
            if value == default:
                continue
            back = space.completed({**values, name: default})
            told = f"{name}{_IS}{shown(value)}, not {shown(default)}"
            made.append(Variant(told, space.design(back, f"{name} as by default")))
        return made if defaults != values else []

    def _from_file(self, path: Path, space: Space) -> Design:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} cannot be read: {error}") from error
        try:
            values = space.read(Design(text, "params"))
        except (DataError, UsageError) as error:
            raise type(error)(f"{path}: {error.message}", hint=error.hint) from error
        return space.design(values, path.stem)


def parameter_of(what: str) -> str:
    """The parameter whose value a variant set back, from what is told of the variant."""
    return what.partition(_IS)[0]


def shown(value: Any) -> str:
    """A value as people read it."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
