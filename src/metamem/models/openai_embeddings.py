"""Embeddings in OpenAI's format: from OpenAI itself, and from the many servers that speak it."""

import json
from collections.abc import Sequence
from typing import Any

from metamem.core.chat import Usage
from metamem.models.base import Fault
from metamem.models.embedding import Embedded
from metamem.models.keys import Key, address
from metamem.models.prices import price_of
from metamem.models.spec import ModelOptions, ModelSpec
from metamem.models.wire import Wire, count

WINDOW = 8191
MAX_REPLY = 32 << 20  # bytes: long vectors of a whole batch, written out in digits


def fingerprint(spec: ModelSpec, options: ModelOptions) -> str:
    """Names the model and what of its settings changes a vector; no key is needed for that."""
    settings = [options.window, dict(options.extra)]
    return str(spec) if settings == [0, {}] else f"{spec} {json.dumps(settings, sort_keys=True)}"


class OpenAIEmbeddings:
    """One model of one server."""

    def __init__(self, spec: ModelSpec, options: ModelOptions, key: Key) -> None:
        self._spec, self._options = spec, options
        headers = {"Authorization": f"Bearer {key.reveal()}"} if key.reveal() else {}
        self._wire = Wire(address(spec), headers, key, options.seconds, MAX_REPLY)

    @property
    def name(self) -> str:
        return str(self._spec)

    @property
    def fingerprint(self) -> str:
        return fingerprint(self._spec, self._options)

    @property
    def window(self) -> int:
        return self._options.window or WINDOW

    @property
    def at_once(self) -> int:
        return self._options.at_once

    @property
    def seconds(self) -> float:
        return self._options.seconds

    def price(self, usage: Usage) -> float | None:
        return price_of(usage, self._spec, self._options.price)

    async def embed(self, texts: Sequence[str]) -> Embedded:
        body = {"model": self._spec.name, "input": list(texts), **self._options.extra}
        return _embedded(await self._wire.post("/embeddings", body))

    async def close(self) -> None:
        await self._wire.close()


def _embedded(data: dict[str, Any]) -> Embedded:
    """The vectors in the order of their texts: servers may number them and mix them up."""
    try:
        numbered = {
            item.get("index", place): item["embedding"] for place, item in enumerate(data["data"])
        }
        vectors = [numbered.get(place) for place in range(len(data["data"]))]
    except (KeyError, TypeError, AttributeError) as error:
        raise Fault("the server's answer holds no embeddings", billed=None) from error
    usage = data.get("usage")
    tokens = count(usage.get("prompt_tokens")) if isinstance(usage, dict) else 0
    return Embedded(vectors, Usage(input=tokens))
