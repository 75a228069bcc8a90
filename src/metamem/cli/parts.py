"""From what was typed to what the API takes; and the archive that is already there."""

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from metamem.cli.asking import go_on
from metamem.cli.screen import remark
from metamem.core import registry
from metamem.core.errors import MetamemError, UsageError
from metamem.evaluation.jobs import Spec
from metamem.runs.parity import NOTHING, Preset, preset
from metamem.store.sqlite import SqliteArchive


def existing_archive(home: Path | None) -> SqliteArchive:
    """The archive at home. Looking at what is there must not make an empty one."""
    from metamem.api import home_folder

    path = home_folder(home) / "archive.db"
    if not path.is_file():
        raise UsageError(
            f"there is no archive in {path.parent}",
            hint="name its folder with --home, or make one with: metamem learn toy --designs 6",
        )
    return SqliteArchive(path, create=False)


def given(**options: Any) -> dict[str, Any]:
    """Only what was really given, so that defaults stay in one place."""
    return {name: value for name, value in options.items() if value is not None}


def preset_given(parity: str | None, domain: str) -> Preset:
    """The settings of published work that were asked for; nothing where none were."""
    return NOTHING if parity is None else preset(parity, domain)


def executor(workers: int | None) -> Spec:
    return Spec("local", given(workers=workers))


def data_settings(data: str) -> dict[str, Any]:
    return {"data": data} if data else {}


def named_settings(
    given: Sequence[str] | None, option: str = "--setting", example: str = "train=100"
) -> dict[str, Any]:
    """Settings given as NAME=VALUE: numbers and true or false as such, the rest as text."""
    found: dict[str, Any] = {}
    for each in given or ():
        name, equals, value = each.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"{each!r} is no setting", hint=f"{option} NAME=VALUE, as {example}")
        try:
            read = json.loads(value.lower() if value in ("True", "False") else value)
        except ValueError:
            read = value
        found[name] = read if isinstance(read, int | float) else value
    return found


def check_domain(name: str, settings: Mapping[str, Any]) -> None:
    """Refuse a wrong name or wrong data before anything is written under them."""
    usual = registry.defaults(registry.factory("domains", name))
    for setting, given in settings.items():  # any text would be taken for true
        if isinstance(given, str) and isinstance(usual.get(setting), bool):
            raise UsageError(f"{setting} of the domain {name!r} is true or false, not {given!r}")
    try:
        registry.create("domains", name, **settings)
    except MetamemError as error:
        if "data" in settings and "'data'" in error.message:
            raise UsageError(f"the domain {name!r} takes no --data") from error
        raise
    except (TypeError, ValueError) as error:  # a text for a number, say
        why = _texts_for_numbers("domains", name, settings) or error
        raise UsageError(f"the domain {name!r} cannot be set so: {why}") from error


def _texts_for_numbers(kind: str, name: str, settings: Mapping[str, Any]) -> str:
    """What is wrong, in plain words, where a number is wanted and a text was given."""
    usual = registry.defaults(registry.factory(kind, name))
    return ", ".join(
        f"{setting} is a number, not {given!r}"
        for setting, given in settings.items()
        if isinstance(given, str) and isinstance(usual.get(setting), int | float)
    )


def home_option(home: Path | None) -> str:
    """What a command needs that is to find the same archive: with a space before it, or nothing."""
    if home is None or str(home) == os.environ.get("METAMEM_HOME"):
        return ""
    return f" --home {shlex.quote(str(home))}"


def first_sentence(text: str) -> str:
    """Enough for a list; `metamem domains show NAME` tells the rest."""
    sentence, stop, _ = text.partition(". ")
    return sentence + "." if stop else text


def agent_spec(name: str | None, settings: Sequence[str] | None = None) -> Spec | None:
    given = named_settings(settings, "--agent-setting", "examples=6")
    if name is None:
        if given:
            raise UsageError(
                "--agent-setting is for an agent that is named",
                hint="add --agent NAME",
            )
        return None
    registry.factory("agents", name)
    try:
        registry.create("agents", name, **given)
    except TypeError as error:  # a name that it does not know, or a text for a number
        why = _texts_for_numbers("agents", name, given) or error
        raise UsageError(f"the agent {name!r} cannot be set so: {why}") from error
    return Spec(name, given)


def model_roles(values: list[str] | None) -> dict[str, tuple[str, ...]]:
    """Models by role, from flags, environment and config file; the embedder is named apart."""
    from metamem.models.config import EMBED, load_config, role_flags

    roles = load_config(role_flags(values or [])).roles
    return {role: names for role, names in roles.items() if role != EMBED}


def embedder_spec(values: list[str] | None) -> Spec | None:
    """The embedder that flags, environment or config file name, if any does."""
    from metamem.models.config import EMBED, load_config, role_flags

    names = load_config(role_flags(values or [])).roles.get(EMBED, ())
    return Spec(names[0]) if names else None


def allowance(tokens: int | None, money: float | None) -> Any:
    from metamem.models.allowance import Allowance

    return Allowance(tokens or 0, money or 0.0)


def agree_to_cost(domain: str, settings: Mapping[str, Any], yes: bool) -> None:
    """Say what a run will ask of models, and ask whether to go on where that costs money."""
    if not settings.get("models"):
        return
    from metamem.api import forecast_learning

    found = forecast_learning(domain, **settings)
    if not found.calls:
        return
    remark(f"This run will ask models: {found}.")
    if found.money == 0 or yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(
            "this run costs money, and there is nobody here to ask",
            hint="say --yes to go on; --max-money and --max-tokens set limits that hold",
        )
    go_on("Go on?")
