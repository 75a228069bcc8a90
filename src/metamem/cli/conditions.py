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
    preset_given,
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
    parity: str | None
    model: list[str] | None
    max_tokens: int | None
    max_money: float | None
    workers: int | None
    home: Path | None
    quiet: bool

    def settings(self) -> dict[str, Any]:
        """What every function of the API that evaluates takes."""
        published = preset_given(self.parity, self.domain)
        world = {**published.domain, **data_settings(self.data)}
        check_domain(self.domain, world)
        return {
            "home": self.home,
            "executor": executor(self.workers),
            "rules": Protocol(**{**published.rules, **self.rules}),
            "models": model_roles(self.model),
            "allowance": allowance(self.max_tokens, self.max_money),
            "domain_settings": world,
            **given(
                seed=self.seed,
                agent=agent_spec(self.agent),
                embedder=embedder_spec(self.model),
                limits=published.limits or None,
            ),
        }

    def evaluated(self, designs: Sequence[str], split: str, purpose: str) -> list[Evaluation]:
        """The evaluations of designs on a split; what the archive has is not played again."""
        from metamem.api import evaluate

        settings = self.settings()
        with watcher(self.quiet) as progress:
            return evaluate(
                list(designs), self.domain, split, progress=progress, purpose=purpose, **settings
            )
