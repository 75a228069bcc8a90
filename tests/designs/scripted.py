"""A scripted model, and the designs that ask one, in the real jail."""

import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest_asyncio

from metamem.core.errors import ModelUnavailable
from metamem.core.protocols import CallSite
from metamem.core.types import Design, Experience, Query, render_advice
from metamem.designs import library
from metamem.designs.jailed import Jail, JailedMemory
from metamem.designs.settings import with_settings
from metamem.models.hashed_embedder import HashedEmbedder
from tests.designs.samples import VIEW, failed, fetched

NAMES = (
    "code_rag",
    "dynamic_cheatsheet",
    "g_memory",
    "memory_bank",
    "notes_file",
    "notes_file_seeded",
    "observational",
    "reasoning_bank",
)
WON = fetched("lantern", "north tower", "guard")
LOST = failed("lantern", "south tower", "guard")
ASKED = Query(WON.goal, VIEW)
# One reply that every design finds something in.
WORDS = " ".join(f"word{n}" for n in range(90))
GOOD = f"""# Item 1
## Title Look first
## Description Looking saves steps.
## Content Look around before you act.
<cheatsheet>Look first, says the sheet.</cheatsheet>
<notes>Look first, say the notes. {WORDS}</notes>
<progress>Look first, says the progress.</progress>
<observations>
Date: episode 1
- [high] Look first, says the observer.
</observations>
ADD: Look first, says the rule.
1. Look first, say the key steps.
"""
PATTERN = {"problem": WON.goal, "solution": "Look first, says the pattern.", "example": "look"}


class Model:
    """A model that says what it is told to, and remembers what it was asked."""

    def __init__(self, answer: Callable[[str, str], str] | str = GOOD) -> None:
        self.answer = answer
        self.away = False
        self.asked: list[tuple[str, str]] = []  # prompt, system
        self.patterns: list[dict[str, str]] = [PATTERN]

    async def __call__(self, prompt: str, schema: dict[str, Any] | None, system: str) -> Any:
        self.asked.append((prompt, system))
        if self.away:
            raise ModelUnavailable("the model is away")
        answer = self.answer if isinstance(self.answer, str) else self.answer(prompt, system)
        if schema is None:
            return answer
        if answer != GOOD:  # the host lets nothing through that does not fit the schema
            raise ModelUnavailable("no answer fits the schema")
        return {"patterns": self.patterns}


def design(name: str, **constants: float) -> Design:
    """A design with other values for its numbers; those in small letters are its settings."""
    made = library.load(name)
    settings = {each: value for each, value in constants.items() if each.islower()}
    source = with_settings(made, settings).source if settings else made.source
    for constant, value in constants.items():
        if constant in settings:
            continue
        source, found = re.subn(
            rf"(?m)^    {constant} = [\d_.]+", f"    {constant} = {value}", source
        )
        assert found == 1, constant
    return Design(source)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def jail() -> AsyncIterator[Jail]:
    async with Jail() as running:
        yield running


async def opened(
    jail: Jail, made: Design | str, llm: Model | None, snapshot: bytes | None = None
) -> JailedMemory:
    made = design(made) if isinstance(made, str) else made
    at = CallSite(model=llm)
    return await jail.open(made, seed=0, embedder=HashedEmbedder(), at=at, snapshot=snapshot)


async def learn(memory: JailedMemory, *episodes: Experience) -> None:
    for episode in episodes:
        await memory.update(episode)


async def told(memory: JailedMemory, query: Query = ASKED) -> str:
    return render_advice(await memory.retrieve(query))
