"""What a learning run is told. Stored with the run, so that resuming needs nothing but its name."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from metamem.core.errors import UsageError
from metamem.evaluation.jobs import Setup, Spec
from metamem.evaluation.rules import Rules
from metamem.search.budget import Budget
from metamem.store.records import RunRecord

_RENAMED = {"layer": "isolation"}  # names in runs that were stored before


def learns(run: RunRecord) -> bool:
    """Whether what an archive keeps as a run has such a config: controls and experiments have none."""
    return "domain" in run.config


@dataclass(frozen=True, slots=True)
class LearnConfig:
    """Everything the result of a run depends on."""

    domain: Spec
    agent: Spec = field(default_factory=lambda: Spec("reader"))
    collector: Spec | None = None  # who plays what designs learn from; None: the agent
    embedder: Spec = field(default_factory=lambda: Spec("auto"))
    proposer: Spec = field(default_factory=lambda: Spec("recombine"))
    selector: Spec = field(default_factory=lambda: Spec("greedy"))
    rules: Rules = field(default_factory=Rules)
    budget: Budget = field(default_factory=lambda: Budget(designs=150))
    rounds: int = 1  # of collection and search; each has an equal share of the budget
    limits: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    batch: int = 6  # proposals that do not see each other's results; fixed, whatever the cores
    racing: bool = True
    control: bool = True  # random recombination at the same budget, for the report
    confirm: int = 16  # the best so many are played on the half of train the search never saw ...
    confirm_seeds: int = (
        2  # ... so often with fresh luck, half as many and on twice the tasks each time
    )
    shortlist: int = 3  # so many go before the gate
    final_repeats: int = 2  # on valid, test and shift
    isolation: str = "auto"  # of the jail
    models: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # role → names
    hints: bool = True  # whether a proposer is told about the domain
    begin: tuple[str, ...] = ()  # designs to begin with, and to beat, beside the human ones
    # Whether the learned design is taken apart in the end; None: only where no model is asked for it
    explain: bool | None = None
    allow_built_in: bool = False  # whether what does not depend on experience may be promoted

    def __post_init__(self) -> None:
        for name in ("batch", "confirm", "shortlist", "final_repeats", "rounds"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1")
        if 0 < self.budget.designs < self.rounds:
            raise UsageError(
                f"{self.budget.designs} designs are too few for {self.rounds} rounds",
                hint="give each round one at least",
            )
        if self.confirm_seeds < 0:
            raise UsageError("confirm_seeds must not be negative")

    def setup(self, **changes: Any) -> Setup:
        given: dict[str, Any] = {
            "domain": self.domain,
            "agent": self.agent,
            "collector": self.collector,
            "embedder": self.embedder,
            "rules": self.rules,
            "limits": self.limits,
            "seed": self.seed,
            "isolation": self.isolation,
        }
        return Setup(**(given | changes))

    def to_json(self) -> dict[str, Any]:
        models = {role: list(names) for role, names in self.models.items()}
        return {**asdict(self), "rules": self.rules.to_json(), "models": models}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "LearnConfig":
        data = {_RENAMED.get(name, name): value for name, value in data.items()}
        specs = ["domain", "agent", "embedder", "proposer", "selector"]
        if data.get("collector"):
            specs.append("collector")
        return LearnConfig(
            **{
                **data,
                **{name: Spec(**data[name]) for name in specs},
                "rules": Rules.from_json(data["rules"]),
                "budget": Budget(**data["budget"]),
                "begin": tuple(data.get("begin", ())),
                "models": {r: tuple(names) for r, names in data.get("models", {}).items()},
            }
        )
