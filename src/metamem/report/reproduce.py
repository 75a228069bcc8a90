"""The command line that repeats a run."""

import shlex
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from metamem.evaluation.jobs import Spec
from metamem.evaluation.rules import Rules
from metamem.runs.config import LearnConfig
from metamem.search.learnables.parameters import USUAL

# An option that ends with a colon has the value right behind it.
_RULES = {
    "rollout": "--rollout",
    "repeats": "--repeats",
    "collect": "--collect",
    "max_steps": "--max-steps",
    "advice_tokens": "--advice-tokens",
    "ask_every": "--ask every:",
    "ask_when": "--ask when:",
    "tasks_from": "--tasks-from",
}
_SPECS = {"selector": "--selector", "proposer": "--proposer", "agent": "--agent"}
_FLAGS = {"control", "racing", "hints", "explain", "models", "embedder", "allow_built_in", "rounds"}
_BY_OPTION = {"domain", "seed", "budget", "rules", *_FLAGS, *_SPECS}


def command_line(stored: Mapping[str, Any]) -> str:
    """As short as it can be: what is as by default is left out."""
    config = LearnConfig.from_json(stored)
    default = LearnConfig(domain=config.domain)
    if not config.agent.name:  # nobody acts: sets of parameters are learned
        default = replace(default, **USUAL)
    words = ["metamem", "learn", config.domain.name, "--seed", str(config.seed)]
    if config.budget.designs:
        words += ["--designs", str(config.budget.designs)]
    if config.budget.seconds:
        words += ["--seconds", f"{config.budget.seconds:g}"]
    for name, option in _SPECS.items():
        chosen: Spec = getattr(config, name)
        if chosen.name != getattr(default, name).name:
            words += [option, chosen.name]
    if "data" in config.domain.settings:
        words += ["--data", str(config.domain.settings["data"])]
    for name, option in _RULES.items():
        value = getattr(config.rules, name)
        if value != getattr(default.rules, name):
            words += f"{option}{value}".split() if option.endswith(":") else [option, str(value)]
    words += ["--rounds", str(config.rounds)] if config.rounds > 1 else []
    words += [] if config.control else ["--no-control"]
    words += [] if config.racing else ["--no-racing"]
    words += [] if config.hints else ["--no-hints"]
    words += ["--allow-built-in"] if config.allow_built_in else []
    words += {None: [], True: ["--explain"], False: ["--no-explain"]}[config.explain]
    for role, names in config.models.items():
        for model in names:
            words += ["--model", f"{role}={model}"]
    if config.embedder != default.embedder:
        words += ["--model", f"embed={config.embedder.name}"]
    return shlex.join(words)


def beyond_options(stored: Mapping[str, Any]) -> dict[str, Any]:
    """What differs from the defaults and can be set only from Python."""
    config = LearnConfig.from_json(stored)
    ours, default = config.to_json(), LearnConfig(domain=config.domain).to_json()
    found = {n: v for n, v in ours.items() if n not in _BY_OPTION and v != default[n]}
    for name in sorted({rule.name for rule in fields(Rules)} - _RULES.keys()):
        if ours["rules"].get(name) != default["rules"].get(name):
            found[f"rules.{name}"] = ours["rules"].get(name)
    for name in _SPECS:
        if ours[name]["settings"]:
            found[f"{name}.settings"] = ours[name]["settings"]
    rest = {n: v for n, v in config.domain.settings.items() if n != "data"}
    return found | ({"domain.settings": rest} if rest else {})
