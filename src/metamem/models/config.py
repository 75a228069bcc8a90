"""Which model plays which role: flags, then the environment, then the config file."""

import difflib
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metamem.core.chat import ROLES
from metamem.core.errors import DataError, UsageError
from metamem.models.base import LanguageModel
from metamem.models.keys import find_key
from metamem.models.provider import provider_of
from metamem.models.spec import ModelOptions, parse

if TYPE_CHECKING:  # else it would load numpy for whoever only reads the config
    from metamem.models.embedding import EmbeddingModel

FILE = "metamem.toml"
FILE_VARIABLE = "METAMEM_CONFIG"
EMBED = "embed"
KNOWN_ROLES = (*ROLES, EMBED)


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Names of models by role (several for one role: an ensemble), and how each is used."""

    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    key_file: str = ""

    def open(self, name: str) -> LanguageModel:
        """The model of a name, ready to be asked; loaded or connected when first asked."""
        spec, options = parse(name), self.options_of(name)
        key = find_key(spec, options.key, self.key_file)
        return provider_of(spec.provider).open(spec, options, key)

    def open_embedding(self, name: str) -> "EmbeddingModel":
        """The model behind an API that embeds texts, connected when first asked."""
        spec, options = parse(name), self.options_of(name)
        key = find_key(spec, options.key, self.key_file)
        return provider_of(spec.provider).open_embedding(spec, options, key)

    def options_of(self, name: str) -> ModelOptions:
        return ModelOptions.from_json(self.options.get(name, {}), f"the model {name}")

    def open_roles(self, roles: Mapping[str, Sequence[str]]) -> dict[str, list[LanguageModel]]:
        """The models of some roles; one that plays several roles is opened once."""
        opened: dict[str, LanguageModel] = {}
        for names in roles.values():
            for name in names:
                if name not in opened:
                    opened[name] = self.open(name)
        return {role: [opened[name] for name in names] for role, names in roles.items()}


def load_config(flags: Mapping[str, Sequence[str]] | None = None) -> ModelConfig:
    """Everything said about models, the nearest word first."""
    data = _read(_path())
    models = data.get("models", {})
    if not isinstance(models, dict) or not isinstance(data.get("model", {}), dict):
        raise DataError(f"{_path()}: [models] and [model.NAME] must be tables")
    key_file = models.pop("key_file", "")
    roles = {role: _names(value, f"{FILE}: models.{role}") for role, value in models.items()}
    for role in KNOWN_ROLES:
        if value := os.environ.get(f"METAMEM_MODEL_{role.upper()}", ""):
            roles[role] = _names(value.split(","), f"METAMEM_MODEL_{role.upper()}")
    roles |= {role: tuple(names) for role, names in (flags or {}).items()}
    for role, names in roles.items():
        if role not in KNOWN_ROLES:
            raise UsageError(f"there is no role {role!r}", hint=_known_roles(role))
        if role != "meta" and len(names) > 1:
            raise UsageError(f"the role {role!r} takes one model, not {len(names)}")
        if role != EMBED:
            for name in names:
                parse(name)
    return ModelConfig(roles, data.get("model", {}), str(key_file))


def role_flags(values: Sequence[str]) -> dict[str, list[str]]:
    """`ROLE=NAME`, as flags give it; a bare name stands for all three roles."""
    roles: dict[str, list[str]] = {}
    for value in values:
        role, equals, name = value.partition("=")
        if equals and ":" not in role:  # behind a colon it is part of a model's name
            if role not in KNOWN_ROLES:
                raise UsageError(f"there is no role {role!r}", hint=_known_roles(role))
            roles.setdefault(role, []).append(name)
        else:
            parse(value)
            for each in ROLES:
                roles.setdefault(each, []).append(value)
    return roles


def _known_roles(role: str) -> str:
    begun = [known for known in KNOWN_ROLES if role and known.startswith(role)]
    close = begun or difflib.get_close_matches(role, KNOWN_ROLES)
    guess = f"did you mean {' or '.join(close)}? " if close else ""
    return f"{guess}known: {', '.join(KNOWN_ROLES)}"


def _path() -> Path:
    return Path(os.environ.get(FILE_VARIABLE) or FILE)


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        if FILE_VARIABLE in os.environ:
            raise UsageError(f"there is no config file {path}", hint=f"correct {FILE_VARIABLE}")
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"the config file {path} is not TOML: {error}") from error


def _names(value: Any, what: str) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else tuple(value)
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise DataError(f"{what} must name a model, or be a list of names")
    return tuple(name.strip() for name in names)
