"""Embeddings in OpenAI's format: from OpenAI itself, and from the many servers that speak it."""

import json
from collections.abc import Sequence
from typing import Any

from metamem.core.chat import Usage
from metamem.models.base import Fault
from metamem.models.embedding import Embedded
from metamem.models.keys import Key
from metamem.models.served import Served, bearer
from metamem.models.spec import ModelOptions, ModelSpec
from metamem.models.wire import count

WINDOW = 8191
MAX_REPLY = 32 << 20  # bytes: long vectors of a whole batch, written out in digits


class OpenAIEmbeddings(Served):
    """One model of one server."""

    def __init__(self, spec: ModelSpec, options: ModelOptions, key: Key) -> None:
        super().__init__(
            spec, options, key, headers=bearer(key), window=WINDOW, max_reply=MAX_REPLY
        )

    @property
    def fingerprint(self) -> str:
        settings = [self._options.window, dict(self._options.extra)]
        plain = settings == [0, {}]
        return self.name if plain else f"{self.name} {json.dumps(settings, sort_keys=True)}"

    async def embed(self, texts: Sequence[str]) -> Embedded:
        body = {"model": self._spec.name, "input": list(texts), **self._options.extra}
        return _embedded(await self._wire.post("/embeddings", body))


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
