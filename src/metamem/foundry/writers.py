"""Who writes tools, as somebody chose: by template, by a model, or handed off to whoever reads and writes files.

What they hand in is judged alike. A model costs money, so it needs a limit; what it spent is kept in the archive
of tools, and no word of what was asked or answered. A hand-off is a folder for each request, in the memory's own:
what is erased from a scope goes from there, too.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from metamem.core.access import Scope
from metamem.core.errors import UsageError
from metamem.foundry.tools.by_handoff import HandoffWriter, requests_of
from metamem.foundry.tools.by_model import ROLE, ModelWriter
from metamem.foundry.tools.judge import trying
from metamem.foundry.tools.replay import Replayer
from metamem.foundry.tools.template import TemplateWriter
from metamem.foundry.tools.tool import Writer
from metamem.models.allowance import Allowance
from metamem.models.broker import Broker
from metamem.models.config import load_config
from metamem.service.metered import Meter
from metamem.store.sqlite import SqliteArchive

WRITERS = ("template", "model", "handoff")
JOB = "foundry"  # under which it is kept what models were paid

WriterOf = Callable[[Scope], Writer]
Writing = Callable[[SqliteArchive], AbstractAsyncContextManager[WriterOf]]


def writing(
    name: str, memory: Path, models: Mapping[str, Sequence[str]], allowance: Allowance
) -> Writing:
    """The writer of a name. `models` are those that flags name, by role."""
    if name not in WRITERS:
        raise UsageError(f"no writer is called {name!r}", hint=f"one of: {', '.join(WRITERS)}")
    if name != "model" and (models or allowance.tokens or allowance.money):
        raise UsageError("models are asked only by --writer model", hint="say that, too")
    if name == "model":
        return by_model(models, allowance)
    return by_handoff(memory) if name == "handoff" else by_template()


def by_template() -> Writing:
    @asynccontextmanager
    async def opened(_: SqliteArchive) -> AsyncIterator[WriterOf]:
        yield lambda _: TemplateWriter()

    return opened


def by_handoff(memory: Path) -> Writing:
    """Each scope has folders of its own: cases of one are never shown for another."""

    @asynccontextmanager
    async def opened(_: SqliteArchive) -> AsyncIterator[WriterOf]:
        yield lambda scope: HandoffWriter(requests_of(memory, scope))

    return opened


def by_model(models: Mapping[str, Sequence[str]], allowance: Allowance) -> Writing:
    """The model that flags, the environment or the config file name for the role. It tries what it wrote on
    cases that it may see."""
    config = load_config(models)
    names = config.roles.get(ROLE, ())
    if not names:
        raise UsageError(
            "no model is named that could write tools",
            hint=f"--model {ROLE}=NAME, METAMEM_MODEL_{ROLE.upper()}, or [models] {ROLE} = …",
        )
    if not (allowance.tokens or allowance.money):
        raise UsageError(
            "a model that writes tools needs a limit",
            hint="--max-tokens N or --max-money USD, in all, over all looks",
        )

    @asynccontextmanager
    async def opened(archive: SqliteArchive) -> AsyncIterator[WriterOf]:
        opened_models = config.open_roles({ROLE: names[:1]})
        broker = Broker(Meter(archive), opened_models, run_id=JOB, allowance=allowance)
        try:
            attempt = trying(Replayer())
            yield lambda _: ModelWriter(broker.ask, attempt=attempt)
        finally:
            await broker.close()

    return opened
