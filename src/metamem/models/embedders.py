"""Embedders by name: the packaged ones, plug-ins, and models behind an API."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metamem.core import registry
from metamem.core.chat import Usage
from metamem.core.errors import ModelFault, UnknownName, UsageError
from metamem.core.protocols import Embedder
from metamem.models.api_embedder import ApiEmbedder
from metamem.models.base import Fault
from metamem.models.config import load_config
from metamem.models.embedding import EmbedAt, Rows, WrongVectors, checked
from metamem.models.embedding_cache import CachedEmbedder
from metamem.models.keys import Key
from metamem.models.provider import KIND, provider_of, split
from metamem.models.spec import ModelSpec, parse

PORTION = 64  # texts that are embedded in one go in this process
NO_SETTINGS: Mapping[str, Any] = {}

AnyEmbedder = Embedder | ApiEmbedder


def options() -> str:
    """What `embed` may be set to."""
    return f"{', '.join(registry.names('embedders'))}, openai:NAME, openai:NAME@http://HOST/v1"


def served(name: str) -> ModelSpec | None:
    """The model, where the name is that of a model behind an API; nonsense is refused."""
    provider, _ = split(name)
    if ":" not in name or (":" not in provider and provider not in registry.names(KIND)):
        return None
    spec = parse(name)
    if not provider_of(provider).embeds or spec.effort:
        raise UsageError(f"{name!r} cannot embed texts", hint=f"known: {options()}")
    return spec


def open_embedder(
    name: str, settings: Mapping[str, Any] = NO_SETTINGS, ask: EmbedAt | None = None
) -> AnyEmbedder:
    """The embedder of a name, with a cache in front; `ask` is the way to those behind an API."""
    spec = served(name)
    if spec is not None:
        set_up = load_config().options_of(name)
        keyless = provider_of(spec.provider).open_embedding(spec, set_up, Key(""))
        return ApiEmbedder(keyless.fingerprint, ask)
    try:
        found: Embedder = registry.create("embedders", name, **settings)
    except UnknownName as error:
        guess = error.hint.partition("known:")[0]
        raise UnknownName(error.message, hint=f"{guess}known: {options()}") from None
    return found if isinstance(found, CachedEmbedder) else CachedEmbedder(found)


def usable(name: str) -> str:
    """What the embedder of a name is, or an error that says why it cannot be used. Sends nothing."""
    if served(name) is not None:
        load_config().open_embedding(name)
        return f"{name}, behind an API"
    found = open_embedder(name)
    assert not isinstance(found, ApiEmbedder)
    return f"{found.fingerprint} ({found.dimensions} dimensions)"


async def try_out(name: str, text: str) -> tuple[int, Usage, float | None]:
    """Embed one text, outside of any run: dimensions, usage and price."""
    if served(name) is None:
        rows = await embed_texts(open_embedder(name), [text], "")
        return rows.shape[1], Usage(), 0.0
    model = load_config().open_embedding(name)
    try:
        async with asyncio.timeout(model.seconds):
            answer = await model.embed([text])
        return checked(answer, 1).shape[1], answer.usage, model.price(answer.usage)
    except TimeoutError as error:
        raise ModelFault(f"{name} did not answer in {model.seconds:g} s") from error
    except (Fault, WrongVectors) as fault:
        raise ModelFault(f"{name}: {fault}") from fault
    finally:
        await model.close()


@dataclass(frozen=True, slots=True)
class EmbedderFor:
    """An embedder on behalf of one design, with one way to ask it wherever it lives."""

    embedder: AnyEmbedder
    design: str

    @property
    def fingerprint(self) -> str:
        return self.embedder.fingerprint

    async def embed(self, texts: Sequence[str]) -> Rows:
        return await embed_texts(self.embedder, texts, self.design)


async def embed_texts(embedder: AnyEmbedder, texts: Sequence[str], design: str) -> Rows:
    """A row for each text, wherever the embedder lives."""
    if isinstance(embedder, ApiEmbedder):
        return await embedder.embed_texts(texts, design)
    parts = [np.zeros((0, embedder.dimensions), dtype=np.float32)]
    for start in range(0, len(texts), PORTION):
        if start:
            await asyncio.sleep(0)  # a worker that is silent for long is taken for dead
        parts.append(embedder.embed(texts[start : start + PORTION]))
    return np.concatenate(parts)
