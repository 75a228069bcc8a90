"""Gives proposers and agents what they declare that they need, or says early what is missing."""

from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from pathlib import Path

from metamem.core import registry
from metamem.core.errors import UsageError
from metamem.core.needs import NOTHING, Needs, missing_model, needs_of
from metamem.core.protocols import Domain
from metamem.core.types import Kind
from metamem.evaluation.jobs import Spec
from metamem.evaluation.plans import NothingCollected, plan
from metamem.models.broker import Broker
from metamem.runs.config import LearnConfig
from metamem.search.learnables import learnable_of
from metamem.search.proposer import Proposer, ProposerContext


def met_needs(kind: str, name: str, broker: Broker | None) -> Needs:
    """The needs of a proposer or agent; refused where it asks a model and none is named."""
    needs = needs_of(kind, name)
    if needs.model and (broker is None or not broker.models(needs.model)):
        raise missing_model(kind, name)
    return needs


WHAT: dict[Kind, str] = {"code": "memory designs", "params": "sets of parameters"}


def check_suited(config: LearnConfig, domain: Domain) -> None:
    """Refuse who could not work on what is learned in a domain."""
    learnable = learnable_of(domain)
    usual: Spec = learnable.settings(domain)["agent"]
    if config.agent.name and not usual.name:
        raise UsageError(
            f"nobody acts in {domain.name}, so the agent {config.agent.name} has nothing to do",
            hint="leave --agent out",
        )
    if config.allow_built_in and not learnable.deprivations:
        raise UsageError(
            f"{domain.name} learns {WHAT[learnable.kind]}, which live by no experience",
            hint="leave --allow-built-in out",
        )
    name = config.proposer.name
    if config.rounds > 1:
        again = (*config.rules.collectors, "the best memory of the first round")
        if not plan(domain, "train", replace(config.rules, collectors=again)).collection:
            raise NothingCollected(domain.name)
        if needs_of("proposers", name).somebody:
            raise UsageError(
                f"the proposer {name} waits for somebody, whose figures are all of one round",
                hint="leave --rounds out, or choose another proposer",
            )
    kind: Kind = getattr(registry.factory("proposers", name), "kind", "code")
    if kind != learnable.kind:
        raise UsageError(
            f"the proposer {name} makes {WHAT[kind]}, and {domain.name} learns"
            f" {WHAT[learnable.kind]}",
            hint="leave --proposer out, or choose another",
        )


def smallest_window(role: str, broker: Broker | None) -> int:
    """Tokens that every model of a role can take; 0 where there is none."""
    return min((model.window for model in broker.models(role)), default=0) if broker else 0


def make_proposer(
    spec: Spec, broker: Broker | None, folder: Path | None, on_wait: Callable[[bool], None]
) -> Proposer:
    """The proposer of a run, with what only the run knows if it declares a need for anything."""
    needs = met_needs("proposers", spec.name, broker)
    given = {}
    if needs != NOTHING:
        if needs.folder and folder is None:
            raise UsageError(f"the proposer {spec.name} needs a folder, and this run has none")
        context = ProposerContext(
            window=smallest_window(needs.model, broker) if needs.model else 0,
            folder=folder if needs.folder else None,
            on_wait=on_wait,
        )
        given["context"] = _taken(spec.name, context)
    made: Proposer = registry.create("proposers", spec.name, **given, **spec.settings)
    return made


def _taken(name: str, context: ProposerContext) -> ProposerContext:
    """The context, if the proposer has a place for it: else its author is told, in plain words."""
    try:
        signature(registry.factory("proposers", name)).bind_partial(context=context)
    except TypeError as error:
        raise UsageError(
            f"the proposer {name} declares needs but takes no `context`",
            hint="make it with __init__(self, context: ProposerContext, ...)",
        ) from error
    return context
