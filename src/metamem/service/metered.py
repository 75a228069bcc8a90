"""The model that the parts of a memory ask: one for all of them, within one limit.

One process of a memory asks at a time, so that what may be spent is counted in one place, over all
parts, processes and days. Every sending is entered before it goes out, without a word of what was
asked or answered: what must be kept of answers, the parts keep themselves.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace

from metamem.core.calls import AttemptEnd, AttemptRecord, CallRecord, Spending
from metamem.core.chat import Question, Reply, Role, Site, Usage
from metamem.core.errors import Busy, UsageError
from metamem.models.allowance import Allowance
from metamem.models.broker import Broker
from metamem.models.config import ModelConfig, load_config
from metamem.service.database import Database
from metamem.service.writing.fields import REASON, Fields
from metamem.store.runlock import lock_file
from metamem.store.sqlite import SqliteArchive

ROLE: Role = "memory"
RUN = "enrich"  # what all of it is entered under: enrichment was the first to ask


@dataclass(frozen=True, slots=True)
class PaidModel:
    """Which model is asked, and what it may cost in all, over all days."""

    name: str
    allowance: Allowance

    @staticmethod
    def of(flags: Mapping[str, Sequence[str]], allowance: Allowance) -> "PaidModel":
        """The one that flags, the environment or the config file name for the role."""
        names = load_config(flags).roles.get(ROLE, ())
        if not names:
            raise UsageError(
                f"no model is named for the role {ROLE!r}",
                hint=f"--model {ROLE}=NAME, METAMEM_MODEL_{ROLE.upper()}, or [models] {ROLE} = …",
            )
        return PaidModel(names[0], allowance).checked()

    def checked(self) -> "PaidModel":
        if not (self.allowance.tokens or self.allowance.money):
            raise UsageError(
                "a model beside a memory needs a limit: it would spend without end",
                hint="--max-tokens N or --max-money USD, in all, over all days",
            )
        return self


class Metered:
    """The open model. It belongs to one event loop."""

    def __init__(self, name: str, broker: Broker) -> None:
        self.name, self._broker = name, broker

    @property
    def fingerprint(self) -> str:
        return self._broker.fingerprints[ROLE]

    async def ask(self, site: Site, question: Question) -> Reply:
        return await self._broker.ask(site, question)


@asynccontextmanager
async def metered(
    database: Database, settings: PaidModel, *, config: ModelConfig | None = None
) -> AsyncIterator[Metered]:
    """A model that is ready to be asked; `Busy` where another process of this memory asks one."""
    settings.checked()
    with _alone(database), SqliteArchive(database.path, create=False) as archive:
        models = (config or load_config()).open_roles({ROLE: [settings.name]})
        broker = Broker(Meter(archive), models, run_id=RUN, allowance=settings.allowance)
        try:
            broker.purse.check_price(models[ROLE][0].price(Usage()))
            yield Metered(settings.name, broker)
        finally:
            await broker.close()


class Meter:
    """Keeps what was spent, and no word of what was asked or answered."""

    def __init__(self, archive: SqliteArchive) -> None:
        self._archive = archive

    def begin_attempt(self, attempt: AttemptRecord) -> int:
        return self._archive.begin_attempt(attempt)

    def end_attempt(self, number: int, end: AttemptEnd, call: CallRecord | None = None) -> None:
        detail = Fields().line(end.detail, REASON)  # a provider may quote what it was sent
        self._archive.end_attempt(number, replace(end, detail=detail))

    def call(self, key: str) -> CallRecord | None:
        return None

    def put_blob(self, blob_id: str, content: bytes) -> bool:
        return False

    def blob(self, blob_id: str) -> bytes | None:
        return None

    def spending(self, run_id: str | None = None) -> list[Spending]:
        return self._archive.spending(run_id)


@dataclass(frozen=True, slots=True)
class Spent:
    """What a model was paid, by all processes since the memory was made. Calls whose end nobody saw
    are counted at the most that they can cost."""

    questions: int = 0
    tokens: int = 0
    money: float = 0.0
    unpriced: int = 0  # questions whose price is not known


def spent(database: Database, *, designs: bool) -> Spent:
    """By served designs, or by enrichment."""
    with SqliteArchive(database.path, create=False) as archive:
        rows = [row for row in archive.spending(RUN) if bool(row.design_id) == designs]
    return Spent(
        sum(row.attempts for row in rows),
        sum(row.usage.total + row.reserved for row in rows),
        sum(row.money for row in rows),
        sum(row.unpriced for row in rows),
    )


@contextmanager
def _alone(database: Database) -> Iterator[None]:
    path = database.path
    try:
        with lock_file(path.with_name(f"{path.name}.locks"), RUN):
            yield
    except Busy:
        raise Busy(
            "another process asks a model on behalf of this memory",
            hint="it may be metamem serve --model or metamem enrich; wait, or stop it",
        ) from None
