"""Where an experiment is played: its conditions, and who takes part."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from metamem.core import registry
from metamem.core.chat import ROLES
from metamem.core.figures import Scale, scale_of
from metamem.core.progress import Progress
from metamem.core.protocols import WorldDomain
from metamem.core.types import Design, Evaluation, Task
from metamem.designs import library
from metamem.evaluation.jobs import Spec
from metamem.evaluation.plans import plan
from metamem.evaluation.rules import Rules
from metamem.models.allowance import Allowance
from metamem.promotion.gate import Gate
from metamem.runs.config import LearnConfig
from metamem.runs.experiments.hypotheses import HYPOTHESES
from metamem.runs.experiments.records import Experiment, Json
from metamem.runs.experiments.terms import LEVEL, Terms
from metamem.runs.opening import PLAYING, Stage, staged
from metamem.runs.played import evaluations, watched
from metamem.search.learnables import learnable_of
from metamem.store.archive import Archive

PURPOSE = "experiment"
NOTHING: Mapping[str, Any] = {}


class Lab:
    """All that measures need; models are paid from one allowance, whatever is opened for them."""

    def __init__(
        self,
        archive: Archive,
        config: LearnConfig,
        terms: Terms,
        named: Mapping[str, Design],
        *,
        beyond: Mapping[str, Any],
        executor: Spec,
        progress: Progress,
        allowance: Allowance,
        tell: Callable[[str], None],
    ) -> None:
        """`named`: the designs that somebody asked for; `beyond`: fields of `Setup` that no config
        has; `tell` is told what is about to be played, and what it could show."""
        self.archive, self.config, self.terms, self.named = archive, config, terms, named
        self.progress, self.tell = progress, tell
        self.answers: Mapping[str, Experiment] = {}  # under the same conditions, by hypothesis
        self.planning = False  # nothing will be played
        self.run_id = ""  # of a learning run, should this take one
        self._beyond, self._executor, self._left = beyond, executor, allowance
        self.domain: WorldDomain = registry.create(
            "domains", config.domain.name, **config.domain.settings
        )
        self.learnable = learnable_of(self.domain)

    def seen_to_gain(self) -> Sequence[Json]:
        """What was found of memories that were asked whether they help at all."""
        first = next((h for h in HYPOTHESES.values() if h.measure == "gain"), None)
        answer = self.answers.get(first.name) if first else None
        found: Sequence[Json] = answer.result["candidates"] if answer else ()
        return found

    def spread(self) -> tuple[float, str]:
        """Of gains from task to task: as they were seen, else assumed; and which of the two."""
        seen = [float(each["spread"]) for each in self.seen_to_gain()]
        if seen:
            return max(seen), "as it was when memory was seen to help"
        return self.terms.spread * self.span, "assumed"

    def design(self, told: Json) -> Design:
        """One that an earlier experiment names."""
        return replace(self.archive.design(told["design"]), name=told["name"])

    @property
    def gate(self) -> Gate:
        return Gate(LEVEL, self.learnable.rule(self.domain))

    @property
    def span(self) -> float:
        low, high = self.domain.reward_range
        return high - low

    @property
    def scale(self) -> Scale:
        return scale_of(self.domain)

    @property
    def nothing(self) -> Design:
        """The design that says what tasks are worth without any memory."""
        return self.learnable.reference(self.domain)

    def humans(self) -> dict[str, Design]:
        """What people made and can take part here, without the one that remembers nothing."""
        roles = [role for role in ROLES if self.config.models.get(role)]
        seeds = self.learnable.seeds(self.domain, roles)
        return {n: design for n, design in seeds.items() if design.id != self.nothing.id}

    def learned(self) -> dict[str, Design]:
        """What was learned for the domain and comes along."""
        name = f"{library.LEARNED}/{self.domain.name}"
        return {name: library.load(name)} if name in library.learned_names() else {}

    @property
    def streams(self) -> Mapping[str, Any]:
        """Settings under which the domain's tasks come in the order of time, if they do."""
        found: Mapping[str, Any] = getattr(self.domain, "streams", NOTHING)
        return found

    def config_with(self, settings: Mapping[str, Any]) -> LearnConfig:
        domain = self.config.domain
        return replace(self.config, domain=Spec(domain.name, {**domain.settings, **settings}))

    def order(self, split: str, rules: Rules, settings: Mapping[str, Any]) -> dict[str, list[str]]:
        """The tasks of each group, in their order."""
        found: dict[str, list[str]] = {}
        for task in self._deployed(split, rules, settings):
            found.setdefault(task.group, []).append(task.id)
        return found

    def count(self, split: str, rules: Rules) -> int:
        return len(self._deployed(split, rules, NOTHING))

    def _deployed(self, split: str, rules: Rules, settings: Mapping[str, Any]) -> tuple[Task, ...]:
        domain = self.config_with(settings).domain
        made: WorldDomain = registry.create("domains", domain.name, **domain.settings)
        return plan(made, split, rules).deployment

    async def conditions(self) -> Json:
        """What two hypotheses must share: everything that a score depends on but the design, the
        split, and how many of its tasks are played."""
        async with self.opened(self.config) as stage:
            told = stage.evaluator(**self._beyond).fingerprint(self.nothing, "test").to_json()
        rules = {name: value for name, value in told.pop("protocol").items() if name != "tasks"}
        del told["design"], told["split"]
        return {**told, "rules": rules}

    def opened(self, config: LearnConfig, run_id: str = "", *, searches: bool = False) -> Any:
        roles = ROLES if searches else PLAYING
        return staged(
            self.archive,
            self._executor,
            config,
            run_id=run_id,
            allowance=self._left,
            roles=roles,
        )

    def paid(self, stage: Stage) -> None:
        """What a stage has spent is not there for the next."""
        if stage.broker is not None:
            purse = stage.broker.purse
            self._left = self._left.after(purse.tokens, purse.money)

    async def play(
        self,
        designs: Sequence[Design],
        split: str,
        rules: Rules,
        words: str,
        settings: Mapping[str, Any] = NOTHING,
    ) -> dict[str, Evaluation]:
        """By id; what the archive has is not played again."""
        async with self.opened(self.config_with(settings)) as stage:
            evaluator = stage.evaluator(
                watched(self.progress), self.progress.note, rules=rules, **self._beyond
            )
            found = await evaluations(
                evaluator, designs, split, PURPOSE, self.progress, f"{words} on {split}"
            )
            self.paid(stage)
        return {design.id: each for design, each in zip(designs, found, strict=True)}
