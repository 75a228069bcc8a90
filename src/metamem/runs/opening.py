"""The one way to open the conditions of a run: an executor, the models that it reaches, and the
evaluators on them."""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from metamem.core import registry
from metamem.core.aside import aside
from metamem.core.chat import ROLES
from metamem.core.errors import DataError
from metamem.evaluation.dispatch import Note
from metamem.evaluation.evaluator import Evaluator, Records
from metamem.evaluation.jobs import Executor, Spec
from metamem.evaluation.record import OnCase
from metamem.models.allowance import Allowance
from metamem.models.broker import Broker
from metamem.models.config import load_config
from metamem.models.embedders import served
from metamem.runs.config import LearnConfig
from metamem.runs.supply import met_needs, smallest_window
from metamem.store.archive import Archive

EMBEDDER = Spec("auto")
PLAYING = tuple(role for role in ROLES if role != "meta")  # whose models are asked while playing


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


@dataclass(frozen=True, slots=True)
class Stage:
    """The conditions of a config, open: designs are played here by its evaluators."""

    archive: Archive
    config: LearnConfig
    executor: Executor
    broker: Broker | None  # the way to the models, where there are any
    run_id: str = ""

    def evaluator(
        self,
        on_case: OnCase | None = None,
        note: Note | None = None,
        *,
        archive: Records | None = None,
        run_id: str = "",
        **changes: Any,
    ) -> Evaluator:
        """`changes` are of what the config says, or beyond it: fields of `Setup`."""
        setup = self.config.setup(**(played_by(self.config.agent, self.broker) | changes))
        return Evaluator(
            archive or self.archive,
            self.executor,
            setup,
            run_id=run_id or self.run_id,
            on_case=on_case,
            note=note,
        )


@asynccontextmanager
async def staged(
    archive: Archive,
    executor: Spec,
    config: LearnConfig,
    *,
    run_id: str = "",
    allowance: Allowance | None = None,
    roles: Collection[str] = ROLES,
) -> AsyncIterator[Stage]:
    """Everything that playing under a config takes, opened together and closed together.

    `roles` are those whose models are opened, of what the config names.
    """
    models = {role: names for role, names in config.models.items() if role in roles}
    async with (
        broker_for(archive, models, run_id, allowance, config.embedder) as broker,
        running(archive, executor, broker) as pool,
    ):
        yield Stage(archive, config, pool, broker, run_id)


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


def played_by(agent: Spec, broker: Broker | None) -> dict[str, Any]:
    """What of a setup follows from the models: which roles count, and how many play at once."""
    acting = bool(agent.name and met_needs("agents", agent.name, broker).model)
    if broker is None:
        return {}
    roles = ("agent", "memory") if acting else ("memory",)
    models = {r: name for r, name in broker.fingerprints.items() if r in roles}
    at_once = max((model.at_once for model in broker.models("agent")), default=1)
    return {
        "models": models,
        "parallel": at_once if acting else 1,
        "window": smallest_window("agent", broker) if acting else 0,
    }
