"""A design that asks a model, and models of its own: scripted ones, which can be away or wait."""

import asyncio
import itertools
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from metamem.core.access import Scope
from metamem.core.chat import Question
from metamem.core.types import Design, Query
from metamem.models.allowance import Allowance
from metamem.models.base import Fault
from metamem.service.designs.served import ServedDesigns
from metamem.service.designs.starting import served_designs
from tests.service.designs.parts import MEMBER, NAME, QUICK, SCOPE, Home

T = TypeVar("T")
ASKING = Design('''
from metamem.designs import Memory, text


class Asking(Memory):
    """What the model says of each goal."""

    def __init__(self, tools):
        super().__init__(tools)
        self.said = []

    async def update(self, experience):
        self.said.append(await text.ask(self.tools, experience.goal) or "nothing")

    async def retrieve(self, query):
        return " ".join([*self.said, await text.ask(self.tools, query.goal) or "nothing"])
''')
OTHER = Design(ASKING.source.replace("each goal", "all goals"))
SAID = "quuxanswer"  # in every answer, and in nothing that the model was told
MODEL = f"scripted:{__name__}:answer"
ANOTHER = f"scripted:{__name__}:another"
WAITING = f"scripted:{__name__}:waiting"
DYING = f"scripted:{__name__}:dying"
DIES_AT = "METAMEM_TEST_DIES_AT"  # a file: how many answers come before the process is killed
ENOUGH = Allowance(tokens=1_000_000)
ONE = Allowance(tokens=4_116)  # the question `one` can cost 4,115 tokens, and costs a few
ASKED: list[str] = []
AWAY: list[bool] = []  # not empty: nobody answers
GATE: list[asyncio.Event] = []  # what a waiting model waits for
ELSEWHERE = Scope("acme", "project", "elsewhere")
BOTH = frozenset({SCOPE, ELSEWHERE})
OWNER = replace(MEMBER, reads=BOTH, writes=BOTH, manages=BOTH)


def answer(question: Question) -> str:
    if AWAY:
        raise Fault("the words of a provider", retry=False)
    ASKED.append(question.turns[-1].text)
    return f"{SAID}{len(ASKED)}"


def another(question: Question) -> str:
    ASKED.append(question.turns[-1].text)
    return f"other{len(ASKED)}"


async def waiting(question: Question) -> str:
    ASKED.append(question.turns[-1].text)
    await GATE[0].wait()
    return f"{SAID}{len(ASKED)}"


def dying(question: Question) -> str:
    """Notes what it was asked, and is killed before some answer."""
    there = Path(os.environ[DIES_AT])
    left, *before = there.read_text().splitlines()
    there.write_text("\n".join([str(int(left) - 1), *before, question.turns[-1].text]))
    if int(left) == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return f"{SAID}-{question.turns[-1].text}"


@asynccontextmanager
async def asking(
    home: Home,
    model: str = MODEL,
    allowance: Allowance = ENOUGH,
    **settings: Any,
) -> AsyncIterator[ServedDesigns]:
    """The designs in use are served, with a model."""
    how = replace(QUICK, **settings)
    async with served_designs(
        home.service, home.folder, model=model, allowance=allowance, serving=how
    ) as served:
        yield served


async def words(served: ServedDesigns, scope: str = NAME) -> list[str]:
    found = await served.advise(OWNER, scope, Query("and now?"))
    assert not found.note, found.note
    return found.text.split()


async def until(happens: Callable[[], Awaitable[T]]) -> T:
    """What it comes to once it is anything."""
    async with asyncio.timeout(60):
        for _ in itertools.count():
            if found := await happens():
                break
            await asyncio.sleep(0.01)
    return found


def forget_snapshots(home: Home) -> None:
    """So that the log is replayed."""
    found = list((home.service.folder / "served").rglob("*.snapshot"))
    assert found
    for path in found:
        path.unlink()
