"""A local model from a GGUF file, served in this process by llama.cpp to itself alone."""

import asyncio
from hashlib import sha256
from pathlib import Path
from typing import Any

from metamem.core import extras
from metamem.core.chat import Question, Usage
from metamem.core.errors import UsageError
from metamem.core.system import cores
from metamem.models.base import Completion
from metamem.models.keys import Key
from metamem.models.model_base import ModelBase
from metamem.models.openai_format import OpenAIFormat
from metamem.models.spec import ModelOptions, ModelSpec

WINDOW = 8192
SLOTS = 4  # questions that are worked on together, in one batch
_SAMPLE = 1 << 20  # bytes of the file's head and tail that name its content


class LocalModel(ModelBase):
    """Loaded when first asked. Questions share batches; answers can be held to a list or a schema."""

    def __init__(self, spec: ModelSpec, options: ModelOptions) -> None:
        super().__init__(spec, options, window=WINDOW)
        self._path = Path(spec.name).expanduser()
        if not self._path.is_file():
            raise UsageError(f"there is no model file {self._path}", hint="give a .gguf file")
        self._digest = _digest(self._path)
        self._server: Any = None
        self._client: OpenAIFormat | None = None
        self._loading = asyncio.Lock()

    @property
    def name(self) -> str:
        return f"local:{self._path}"

    @property
    def fingerprint(self) -> str:
        """By content, so that the file may lie anywhere."""
        return f"local:{self._path.name}#{self._digest} window {self.window}"

    @property
    def at_once(self) -> int:
        return min(self._options.at_once, SLOTS)

    def price(self, usage: Usage) -> float | None:
        return 0.0

    async def complete(self, question: Question) -> Completion:
        async with self._loading:
            if self._client is None:
                self._client = await asyncio.to_thread(self._load)
        return await self._client.complete(question)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
        self._client = self._server = None

    def _load(self) -> OpenAIFormat:
        extras.load("local")
        import xllamacpp

        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(self._path)
        parameters.n_ctx = self.window * self.at_once
        parameters.n_parallel = self.at_once
        parameters.cont_batching = True
        parameters.verbosity = -1
        threads = self._options.threads or max(1, cores() // 2)
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
        parameters.hostnames = ["127.0.0.1"]
        parameters.port = 0
        self._server = xllamacpp.Server(parameters)
        spec = ModelSpec("openai", self._path.name, url=f"{self._server.listening_address}/v1")
        options = ModelOptions(
            window=self.window,
            seconds=self._options.seconds,
            constrain="llama",
            extra=self._options.extra,
        )
        return OpenAIFormat(spec, options, Key(""))


def _digest(path: Path) -> str:
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_SAMPLE)
        file.seek(max(0, size - _SAMPLE))
        tail = file.read(_SAMPLE)
    return sha256(head + tail + str(size).encode()).hexdigest()[:16]
