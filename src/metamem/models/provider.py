"""Providers of models: the word in front of the colon of a model's name, found in the registry."""

import sys
from abc import ABC, abstractmethod
from importlib.util import find_spec
from inspect import isabstract
from typing import TYPE_CHECKING

from metamem.core import registry
from metamem.core.errors import UsageError

if TYPE_CHECKING:  # it is looked at whenever a name is read: what opening takes is loaded then
    from metamem.models.base import LanguageModel
    from metamem.models.embedding import EmbeddingModel
    from metamem.models.keys import Key
    from metamem.models.spec import ModelOptions, ModelSpec

KIND = "providers"


class Provider(ABC):
    """How the models of one provider are named, keyed and opened; made without arguments."""

    about: str = ""  # in a few words
    example: str = "NAME"  # of what stands behind the colon
    served: bool = False  # its models are on servers: names may end in /EFFORT and @ADDRESS
    url: str = ""  # of its own server, where a name has no address
    key: str = ""  # the environment variable with the key for that; empty: none is needed
    embeds: bool = False  # it also has models that embed texts

    @abstractmethod
    def open(self, spec: "ModelSpec", options: "ModelOptions", key: "Key") -> "LanguageModel":
        """One model, ready to be asked; loaded or connected when first asked."""

    def open_embedding(
        self, spec: "ModelSpec", options: "ModelOptions", key: "Key"
    ) -> "EmbeddingModel":
        """One model that embeds texts. Opened with an empty key it still tells its fingerprint."""
        raise UsageError(f"{spec} cannot embed texts")


def provider_of(name: str) -> Provider:
    """The provider of a registered name, or of a path `package.module:name`."""
    found = registry.factory(KIND, name)
    if not (isinstance(found, type) and issubclass(found, Provider)) or isabstract(found):
        raise UsageError(
            f"{name!r} is no provider of models",
            hint="a provider is a class derived from metamem.models.provider.Provider, with `open`",
        )
    made: Provider = registry.create(KIND, name)
    return made


def split(text: str) -> tuple[str, str]:
    """A provider and what stands behind its colon; a path has another colon inside."""
    word, _, rest = text.partition(":")
    attribute, colon, name = rest.partition(":")
    if colon and attribute.isidentifier() and _may_be_module(word):
        return f"{word}:{attribute}", name
    return word, rest


def _may_be_module(word: str) -> bool:
    """Whether a word is meant as a module: a misspelt provider in front of `llama3:8b` is not."""
    if word in registry.names(KIND) or not all(part.isidentifier() for part in word.split(".")):
        return False
    return "." in word or word in sys.modules or find_spec(word) is not None
