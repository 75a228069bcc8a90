"""Under which conditions designs are evaluated, as the command line says it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metamem.cli.parts import (
    agent_spec,
    allowance,
    check_domain,
    data_settings,
    embedder_spec,
    executor,
    given,
    model_roles,
)
from metamem.cli.progress import watcher
from metamem.core.types import Evaluation
from metamem.evaluation.protocol import Protocol


@dataclass(frozen=True, slots=True)
class Conditions:
    """What `evaluate`, `compare` and their relatives have in common."""

    domain: str
    seed: int | None
    agent: str | None
    data: str
    rules: Mapping[str, Any]
    model: list[str] | None
    max_tokens: int | None
    max_money: float | None
    workers: int | None
    home: Path | None
    quiet: bool

    def evaluated(self, designs: Sequence[str], split: str, purpose: str) -> list[Evaluation]:
        """The evaluations of designs on a split; what the archive has is not played again."""
        check_domain(self.domain, data_settings(self.data))
        settings = given(
            seed=self.seed, agent=agent_spec(self.agent), embedder=embedder_spec(self.model)
        )
        from metamem.api import evaluate

        with watcher(self.quiet) as progress:
            return evaluate(
                list(designs),
                self.domain,
                split,
                home=self.home,
                executor=executor(self.workers),
                progress=progress,
                purpose=purpose,
                rules=Protocol(**self.rules),
                models=model_roles(self.model),
                allowance=allowance(self.max_tokens, self.max_money),
                domain_settings=data_settings(self.data),
                **settings,
            )
