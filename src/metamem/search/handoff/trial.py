"""A draft is tried as the verifier would try it.

Nothing is entered into the archive but calls of models, where the run has any: those cost money.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar, cast

from metamem.core import registry
from metamem.core.errors import UsageError
from metamem.core.types import Design, Episode
from metamem.evaluation.evaluator import Evaluator
from metamem.evaluation.jobs import Executor
from metamem.models.broker import Broker
from metamem.search.config import LearnConfig
from metamem.search.learn import played_by
from metamem.search.verifier import EXPERIENCES, TASKS
from metamem.store.archive import Archive, RunRecord

T = TypeVar("T")


class _AsCollected:
    """All that verifying reads of an archive; it can neither write nor have anything played."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def collection(self, collection_id: str) -> list[Episode]:
        return _there(self._archive.collection(collection_id))

    def blob(self, blob_id: str) -> bytes:
        return _there(self._archive.blob(blob_id))


def _there(found: T | None) -> T:
    if found is None:
        raise UsageError(
            "the run has not collected its experiences yet, so nothing can be tried on them",
            hint="wait for its first request",
        )
    return found


@asynccontextmanager
async def no_models(config: LearnConfig) -> AsyncIterator[None]:
    yield


Models = Callable[[LearnConfig], AbstractAsyncContextManager[Broker | None]]


async def failure(archive: Archive, run: RunRecord, design: Design, models: Models) -> str:
    """What goes wrong when the design is run in the jail; empty where nothing does."""
    reading, config = _AsCollected(archive), LearnConfig.from_json(run.config)
    async with models(config) as broker:
        ask = {"ask": broker.ask, "embed": broker.embed} if broker is not None else {}
        executor: Executor = registry.create(
            "executors", "local", blobs=reading.blob, workers=1, **ask
        )
        try:
            setup = config.setup(**played_by(config.agent, broker))
            evaluator = Evaluator(cast(Archive, reading), executor, setup, run_id=run.id)
            return (await evaluator.verify(design, EXPERIENCES, TASKS)).error
        finally:
            await executor.close()
