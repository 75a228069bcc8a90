"""What plays and what is asked, opened together: an executor, and the models that it reaches."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from metamem.core import registry
from metamem.core.aside import aside
from metamem.core.chat import ROLES
from metamem.core.errors import DataError
from metamem.evaluation.jobs import Executor, Spec
from metamem.models.broker import Broker
from metamem.models.budget import Allowance
from metamem.models.config import load_config
from metamem.models.embedders import served
from metamem.store.archive import Archive

EMBEDDER = Spec("auto")


@asynccontextmanager
async def broker_for(
    archive: Archive,
    models: Mapping[str, Sequence[str]],
    run_id: str = "",
    allowance: Allowance | None = None,
    embedder: Spec = EMBEDDER,
) -> AsyncIterator[Broker | None]:
    """The way to the models of some roles, and to an embedder's; none where there are none."""
    roles: dict[str, Sequence[str]] = {r: names for r, names in models.items() if r in ROLES}
    behind_api = served(embedder.name) is not None
    if not roles and not behind_api:
        yield None
        return
    config = load_config()
    broker = await aside(  # it looks at what was spent before
        Broker,
        archive,
        config.open_roles(roles),
        run_id=run_id,
        allowance=allowance,
        embedding=config.open_embedding(embedder.name) if behind_api else None,
    )
    try:
        yield broker
    finally:
        await broker.close()


@asynccontextmanager
async def playing(
    archive: Archive,
    executor: Spec,
    models: Mapping[str, Sequence[str]],
    embedder: Spec = EMBEDDER,
    allowance: Allowance | None = None,
    run_id: str = "",
) -> AsyncIterator[tuple[Executor, Broker | None]]:
    """An executor and the models that it reaches, open together and closed together."""
    async with (
        broker_for(archive, models, run_id, allowance, embedder) as broker,
        running(archive, executor, broker) as pool,
    ):
        yield pool, broker


@asynccontextmanager
async def running(
    archive: Archive, spec: Spec, broker: Broker | None = None
) -> AsyncIterator[Executor]:
    """The executor a spec names, closed whatever happens."""
    ask = {"ask": broker.ask, "embed": broker.embed} if broker is not None else {}
    executor: Executor = registry.create(
        "executors", spec.name, blobs=_blobs(archive), **ask, **spec.settings
    )
    try:
        yield executor
    finally:
        await executor.close()


def _blobs(archive: Archive) -> Callable[[str], bytes]:
    def blob(key: str) -> bytes:
        content = archive.blob(key)
        if content is None:
            raise DataError(f"the archive has no content {key}")
        return content

    return blob
