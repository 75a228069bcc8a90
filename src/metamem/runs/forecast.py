"""What a run will ask of models, before it starts: so that nobody is surprised by a bill."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from metamem.core import registry
from metamem.core.chat import Usage
from metamem.core.needs import needs_of
from metamem.core.protocols import WorldDomain
from metamem.core.tokens import count_tokens
from metamem.designs.library import needs_model
from metamem.evaluation.plans import plan
from metamem.models.base import LanguageModel
from metamem.runs.config import LearnConfig
from metamem.runs.confirming import rungs
from metamem.search.learnables import learnable_of

RACED = 0.6  # of its cases, what a typical proposal plays before it is raced out
PLAYED = 0.8  # of its steps, what a typical episode takes
STEP_TOKENS = 60  # an observation and an action, typically
FRAME_TOKENS = 150  # what agents add to the rules and the goal
UPDATE_CALLS, UPDATE_TOKENS, UPDATE_REPLY = 2, 2500, 500  # of designs that ask a model
WRITING_CALLS, WRITING_TOKENS, WRITING_REPLY = 4, 12_000, 2500  # of a model that writes designs
LINE, PARTS = 6, 4  # of a typical learned design: steps on the way to it, and its parts
SAMPLE = 3  # tasks that are looked at

Models = Mapping[str, Sequence[LanguageModel]]  # by role


@dataclass(frozen=True, slots=True)
class Forecast:
    """About so much. The truth depends on how long episodes last and what is raced out."""

    calls: int
    usage: Usage
    money: float | None  # None: some price is not known

    def __add__(self, other: "Forecast") -> "Forecast":
        unknown = self.money is None or other.money is None
        money = None if unknown else (self.money or 0.0) + (other.money or 0.0)
        return Forecast(self.calls + other.calls, self.usage + other.usage, money)

    def __str__(self) -> str:
        price = "price unknown" if self.money is None else f"${self.money:,.2f}"
        return f"about {self.calls:,} calls, {self.usage.total:,} tokens, {price}"


NOTHING = Forecast(0, Usage(), 0.0)


def forecast(config: LearnConfig, models: Models) -> Forecast:
    """For a whole run from its beginning: search, control, gate and report."""
    domain = registry.create("domains", config.domain.name, **config.domain.settings)
    learnable = learnable_of(domain)
    humans = learnable.seeds(domain, [r for r in models if models[r]]).values()
    asking = sum(needs_model(design) for design in humans)
    designs = config.budget.designs or 1
    arms = 2 if config.control else 1

    train = plan(domain, "train", config.rules)
    whole = plan(domain, "valid", replace(config.rules, repeats=config.final_repeats))
    finals = sum(len(plan(domain, s, config.rules).deployment) for s in ("valid", "test", "shift"))
    finals *= config.final_repeats
    ladder = rungs(domain, config.rules, config)
    confirmed = sum(min(rung.designs, designs) * rung.share for rung in ladder) * arms
    collected = len(train.collection) * (1 + config.confirm_seeds) + len(whole.collection)
    collected *= config.rounds
    proposals = designs * arms * (RACED if config.racing else 1) + len(humans) + confirmed
    proposals += (config.rounds - 1) * (len(humans) + min(config.confirm, designs))
    taken_apart = (LINE + PARTS) * len(whole.cases) if config.explain else 0
    played = int(
        len(train.cases) * proposals
        + finals * (len(humans) + config.shortlist * arms + 1 + len(learnable.deprivations))
        + taken_apart
    )

    found = NOTHING
    if config.agent.name and needs_of("agents", config.agent.name).model:
        found += _acting(config, domain, models, collected + played)
    if asking:
        fed = (len(train.collection) + 3 * len(whole.collection)) * config.rounds
        found += _of(models, "memory", asking * fed * UPDATE_CALLS, UPDATE_TOKENS, UPDATE_REPLY)
    if needs_of("proposers", config.proposer.name).model:
        calls = designs * WRITING_CALLS
        found += _of(models, "meta", calls, WRITING_TOKENS, WRITING_REPLY)
    return found


def _acting(config: LearnConfig, domain: WorldDomain, models: Models, episodes: int) -> Forecast:
    steps = max(1, int((config.rules.max_steps or domain.max_steps) * PLAYED))
    sizes = []
    for task in domain.tasks("train")[:SAMPLE]:
        world = domain.world(task, 0)
        try:
            seen = world.reset()
        finally:
            world.close()
        sizes.append(count_tokens(seen.text) + count_tokens("\n".join(seen.actions)))
    frame = FRAME_TOKENS + count_tokens(domain.rules) + sum(sizes) // len(sizes)
    asked = frame + steps * STEP_TOKENS // 2
    return _of(models, "agent", episodes * steps, asked, 12)


def _of(models: Models, role: str, calls: int, asked: int, replied: int) -> Forecast:
    if not models.get(role):
        return NOTHING
    usage = Usage(calls * asked, calls * replied)
    return Forecast(calls, usage, models[role][0].price(usage))
