"""Designs that ask a model, hosted over a log of one's own: a replay asks nothing again."""

from pathlib import Path

import pytest

import metamem
from metamem.core.chat import Question
from metamem.core.types import Design, Experience, Query
from metamem.designs.jailed import Jail
from metamem.hosting import CallSites, RecordedModel, SnapshotFolder, open_kept
from metamem.models.hashed_embedder import HashedEmbedder
from tests.hosting.logs import SharedLog

ASKING = Design('''
from metamem.designs import Memory


class Asking(Memory):
    """What the model says of each goal."""

    def __init__(self, tools):
        super().__init__(tools)
        self.said = []

    async def update(self, experience):
        self.said.append(await self.tools.llm.ask(experience.goal))

    async def retrieve(self, query):
        return " ".join([*self.said, await self.tools.llm.ask("and now?")])
''')
ASKED: list[str] = []


def loud(question: Question) -> str:
    return question.turns[-1].text.upper()


def answer(question: Question) -> str:
    ASKED.append(question.turns[-1].text)
    return f"{len(ASKED)}"


async def test_what_a_model_said_is_found_again_by_whoever_opens_the_log(tmp_path: Path) -> None:
    log = SharedLog()

    async def told(goals: int, fresh: str) -> str:
        model = RecordedModel(f"scripted:{__name__}:answer", tmp_path)
        sites = CallSites(ASKING, model)
        try:
            async with Jail() as jail:
                memory = await open_kept(
                    jail,
                    ASKING,
                    log,
                    SnapshotFolder(tmp_path / fresh),  # so that the log is replayed
                    seed=0,
                    embedder=HashedEmbedder(),
                    call_site_of=sites.of_update,
                )
                for goal in range(goals):
                    await memory.update(Experience(goal=f"goal {goal}"))
                advice: str = await memory.retrieve(Query("x"), sites.of_retrieval(memory.position))
                await memory.close()
                return advice
        finally:
            await model.close()

    assert await told(2, "one") == "1 2 3"
    assert await told(0, "two") == "1 2 3"
    assert ASKED == ["goal 0", "goal 1", "and now?"]
    assert await told(1, "three") == "1 2 4 5"


def test_a_memory_is_what_its_model_made_of_the_log(tmp_path: Path) -> None:
    def told(model: str, *goals: str) -> tuple[str, int]:
        name = f"scripted:{__name__}:{model}"
        with metamem.open_memory(ASKING, tmp_path, model=name) as memory:
            for goal in goals:
                memory.update(Experience(goal=goal))
            return memory.retrieve("x"), memory.replayed

    ASKED.clear()
    first = told("answer", "one", "two")
    assert first == ("1 2 3", 0)
    assert told("answer") == first
    with pytest.warns(UserWarning, match="another model"):
        assert told("loud") == ("ONE TWO AND NOW?", 2)
    with pytest.warns(UserWarning, match="another model"):
        assert told("answer") == ("1 2 3", 2)
    assert len(ASKED) == 3
