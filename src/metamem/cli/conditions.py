"""Under which conditions designs are played, as the command line says it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from metamem.cli import options as o
from metamem.cli.parts import (
    agent_spec,
    allowance,
    check_domain,
    data_settings,
    embedder_spec,
    executor,
    given,
    model_roles,
    named_settings,
    preset_given,
)
from metamem.cli.progress import watcher
from metamem.cli.screen import remark
from metamem.core import registry
from metamem.core.errors import UsageError
from metamem.core.protocols import Domain
from metamem.core.types import Evaluation, Task
from metamem.evaluation.plans import plan
from metamem.evaluation.rules import Rules, asking
from metamem.runs.parity import Preset

ALMA_ROLLOUTS = {"batched": "frozen", "sequential": "streaming"}  # what ALMA calls them


@dataclass(frozen=True, slots=True)
class Conditions:
    """The options that `learn`, `evaluate`, `compare` and their relatives have in common."""

    seed: o.Seed = None
    agent: o.AgentName = None
    agent_setting: o.AgentSetting = None
    collector: o.Collector = None
    data: o.Data = ""
    setting: o.Setting = None
    rollout: o.Rollout = None
    repeats: o.Repeats = None
    collect: o.Collect = None
    tasks: o.Tasks = None
    experience: o.Experience = None
    collected_by: o.CollectedBy = None
    advice_tokens: o.AdviceTokens = None
    ask: o.Ask = None
    tasks_from: o.TasksFrom = None
    protocol: o.OldTasksFrom = None
    max_steps: o.MaxSteps = None
    parity: o.Parity = None
    model: o.Model = None
    max_tokens: o.MaxTokens = None
    max_money: o.MaxMoney = None
    workers: o.Workers = None
    home: o.Home = None
    quiet: o.Quiet = False

    def preset(self, domain: str) -> Preset:
        """The settings of published work that were asked for, if any."""
        return preset_given(self.parity, domain)

    def rules(self, published: Preset) -> dict[str, Any]:
        """The rules of play under their names in `Rules`; what was given wins."""
        rollout = ALMA_ROLLOUTS.get(self.rollout, self.rollout) if self.rollout else None
        rules = given(
            rollout=rollout,
            repeats=self.repeats,
            collect=self.collect,
            tasks=self.tasks,
            experience=self.experience,
            advice_tokens=self.advice_tokens,
            **(asking(self.ask) if self.ask is not None else {}),
            tasks_from=self._tasks_from(),
            max_steps=self.max_steps,
        )
        Rules(**rules)  # refuses nonsense
        return {**published.rules, **rules}

    def _collectors(self) -> tuple[str, ...] | None:
        """The ids of those who collect in later rounds, which are in the archive after this."""
        from metamem.api import find_design, open_home

        if not self.collected_by:
            return None
        with open_home(self.home) as archive:
            found = [find_design(name, archive) for name in self.collected_by]
            for design in found:
                archive.add_design(design, created_by="collector")
        return tuple(design.id for design in found)

    def _tasks_from(self) -> str | None:
        if self.protocol is None:
            return self.tasks_from
        if self.tasks_from is not None:
            raise UsageError("--protocol is the old name of --tasks-from: give one of them")
        remark("--protocol is called --tasks-from now")
        return self.protocol

    def world(self, published: Preset) -> dict[str, Any]:
        """The domain's settings."""
        return {**published.domain, **data_settings(self.data), **named_settings(self.setting)}

    def players(self) -> dict[str, Any]:
        """Who acts, with which models; only what was given."""
        return given(
            seed=self.seed,
            agent=agent_spec(self.agent, self.agent_setting),
            collector=agent_spec(self.collector),
            embedder=embedder_spec(self.model),
        )

    def settings(self, domain: str) -> dict[str, Any]:
        """What every function of the API that evaluates takes."""
        published = self.preset(domain)
        rules, world = self.rules(published), self.world(published)
        check_domain(domain, world)
        rules |= given(collectors=self._collectors())
        return {
            "home": self.home,
            "executor": executor(self.workers),
            "rules": Rules(**rules),
            "models": model_roles(self.model),
            "allowance": allowance(self.max_tokens, self.max_money),
            "domain_settings": world,
            **self.players(),
            **given(limits=published.limits or None),
        }

    def made(self, domain: str) -> Domain:
        """The domain of a name, with its settings."""
        found: Domain = registry.create("domains", domain, **self.world(self.preset(domain)))
        return found

    def deployed(self, domain: Domain, name: str, split: str) -> tuple[Task, ...]:
        """All tasks that designs are played on, whether or not only some of them were asked for."""
        rules = replace(Rules(**self.rules(self.preset(name))), tasks=0)
        return plan(domain, split, rules).deployment

    def evaluated(
        self, domain: str, designs: Sequence[str], split: str, purpose: str
    ) -> list[Evaluation]:
        """The evaluations of designs on a split; what the archive has is not played again."""
        from metamem.api import evaluate

        settings = self.settings(domain)
        with watcher(self.quiet) as progress:
            return evaluate(
                list(designs), domain, split, progress=progress, purpose=purpose, **settings
            )


USUAL = Conditions()
