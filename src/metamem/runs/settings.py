"""What somebody asks for, as settings by name, made into what runs and evaluations are told."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from metamem.core import registry
from metamem.core.errors import UsageError
from metamem.core.protocols import Domain
from metamem.core.renamed import renamed
from metamem.evaluation.jobs import Setup, Spec
from metamem.evaluation.rules import Rules
from metamem.runs.config import LearnConfig, learns
from metamem.runs.supply import check_suited
from metamem.search.budget import Budget
from metamem.search.learnables import learnable_of
from metamem.store.archive import Archive

Models = Mapping[str, str | Sequence[str]]  # by role
NO_MODELS: Models = {}
NO_SETTINGS: Mapping[str, Any] = {}
BY_NAME = ("agent", "collector", "embedder", "proposer", "selector")  # what a plain name stands for


def conditions(
    domain: str,
    rules: Rules,
    models: Models = NO_MODELS,
    *,
    domain_settings: Mapping[str, Any] = NO_SETTINGS,
    agent: Spec | str | None = None,
    **settings: Any,
) -> tuple[LearnConfig, dict[str, Any]]:
    """What designs are to be played under, and what of the settings goes beyond a config."""
    domain, data = registry.pinned("domains", domain, domain_settings)
    made: Domain = registry.create("domains", domain, **data)
    settings = _understood(renamed(settings, layer="isolation"))
    names = {f.name for f in fields(LearnConfig)}
    if wrong := sorted(set(settings) - names - {f.name for f in fields(Setup)}):
        hint = f"known: {', '.join(sorted(names))}"
        if wrong[0] in {f.name for f in fields(Rules)}:
            hint = f"it is a rule of play: rules=Rules({wrong[0]}=...), of metamem.evaluation.rules"
        raise UsageError(f"there is no setting {wrong[0]!r}", hint=hint)
    given = {name: value for name, value in settings.items() if name in names}
    if agent is not None:
        given |= _understood({"agent": agent})
    config = LearnConfig(
        domain=Spec(domain, data),
        rules=rules,
        models=by_role(models),
        **(learnable_of(made).settings(made) | given),
    )
    check_suited(config, made)
    return config, {name: value for name, value in settings.items() if name not in names}


def by_role(models: Models) -> dict[str, tuple[str, ...]]:
    """Names of models by role, each role's as a tuple."""
    return {
        role: (names,) if isinstance(names, str) else tuple(names) for role, names in models.items()
    }


def learn_config(
    archive: Archive | None, domain: str, run: str, settings: dict[str, Any]
) -> LearnConfig:
    """What a run is about to be, or what the known run is."""
    known = {r.id: r for r in archive.runs() if learns(r)} if run and archive else {}
    if run in known:
        stored = LearnConfig.from_json(known[run].config)
        if domain and not _is(domain, stored.domain):
            raise UsageError(f"the run {run!r} learns {stored.domain.name!r}, not {domain!r}")
        return stored
    if not domain:
        raise UsageError("which domain?", hint=f"known: {', '.join(registry.names('domains'))}")
    settings = renamed(settings, layer="isolation")
    names = {f.name for f in fields(LearnConfig)}
    if wrong := sorted(set(settings) - names - {"domain_settings", "designs", "seconds"}):
        raise UsageError(
            f"learn has no setting {wrong[0]!r}", hint=f"known: {', '.join(sorted(names))}"
        )
    domain, data = registry.pinned("domains", domain, settings.pop("domain_settings", {}))
    made: Domain = registry.create("domains", domain, **data)
    suggested = _understood(made.suggestions)
    if settings.get("designs") or settings.get("seconds") or "budget" in settings:
        suggested.pop("designs", None)
    chosen = {**learnable_of(made).settings(made), **suggested, **_understood(settings)}
    chosen["models"] = by_role(chosen.get("models", {}))
    designs, seconds = chosen.pop("designs", 0), chosen.pop("seconds", 0.0)
    if designs or seconds:
        chosen["budget"] = Budget(designs, seconds)
    config = LearnConfig(domain=Spec(domain, data), **chosen)
    check_suited(config, made)
    return config


def _understood(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with names made into what they stand for; what no run could take is refused."""
    seed = settings.get("seed", 0)
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise UsageError(f"seed must be a whole number, not {seed!r}")
    return {
        name: Spec(value) if name in BY_NAME and isinstance(value, str) else value
        for name, value in settings.items()
    }


def _is(domain: str, stored: Spec) -> bool:
    name, data = registry.spelled_out("domains", domain, {})
    return registry.settled(name) == stored.name and data.items() <= stored.settings.items()
