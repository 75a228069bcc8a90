"""How sets of parameters are scored: what a domain may ask for, and when it is opened and closed."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import metamem
from metamem.core.errors import EngineFault
from metamem.core.protocols import Trial
from metamem.core.space import Int, Space
from metamem.core.types import Case, Scored, Task
from metamem.domains.base import ParamsBase
from metamem.domains.conformance import ParamsConformance
from metamem.evaluation.inline import InlineExecutor
from metamem.evaluation.jobs import Job, Setup, Spec
from metamem.evaluation.rules import Rules
from metamem.models import default_embedder
from metamem.models.hashed_embedder import HashedEmbedder

TOLD: list[str] = []


class Plain(ParamsBase):
    """A number, and what it is worth."""

    name = "plain"
    version = "1"
    space = Space({"level": Int(0, 10, 2)})

    def tasks(self, split: str) -> list[Task]:
        return [Task(f"{split}-{n}", f"task {n}", "x") for n in range(4)]

    async def score(self, values: Mapping[str, Any], task: Task, trial: Trial) -> Scored:
        assert trial.embedder is None
        return Scored(values["level"] / 10)


class Embedding(Plain):
    """Scores by what texts mean, with something open meanwhile."""

    name = "embedding"
    embeds = True

    async def open(self) -> None:
        TOLD.append("open")
        self.half = 0.5

    async def close(self) -> None:
        TOLD.append("close")
        del self.half

    async def score(self, values: Mapping[str, Any], task: Task, trial: Trial) -> Scored:
        assert trial.embedder is not None
        rows = await trial.embedder.embed([task.goal, "a" * values["level"]])
        TOLD.append("score")
        return Scored(float(self.half + self.half * abs(rows[0] @ rows[1]) * 0.9))


class Sick(Plain):
    name = "sick"

    async def open(self) -> None:
        raise ZeroDivisionError("no luck")


class TestEmbedding(ParamsConformance):
    def make(self) -> Embedding:
        return Embedding()


def scored(domain: type[Plain], home: Path, **settings: Any) -> Any:
    name = f"{__name__}:{domain.__name__}"
    (found,) = metamem.evaluate(
        "defaults", name, "valid", home=home, executor=Spec("inline"), **settings
    )
    return found


def test_the_embedder_counts_where_the_domain_asks_it_and_nowhere_else(tmp_path: Path) -> None:
    hashed = Spec("hashed")
    plain = [scored(Plain, tmp_path), scored(Plain, tmp_path, embedder=hashed)]
    assert {found.fingerprint.embedder for found in plain} == {""}
    assert plain[0].id == plain[1].id
    asks = [scored(Embedding, tmp_path), scored(Embedding, tmp_path, embedder=hashed)]
    assert [found.fingerprint.embedder for found in asks] == [
        default_embedder().fingerprint,
        HashedEmbedder().fingerprint,
    ]
    assert asks[0].reward != asks[1].reward


async def test_a_domain_is_opened_once_and_closed(tmp_path: Path) -> None:
    TOLD.clear()
    executor = InlineExecutor(lambda key: b"", slots=4)
    setup = Setup(Spec(f"{__name__}:Embedding"), Spec(""), Spec("hashed"), Rules())
    design = Embedding.space.design({"level": 3})
    tasks = Embedding().tasks("valid")
    jobs = [Job(f"{task.id}", setup, "valid", (Case(task.id, 0),), design=design) for task in tasks]
    await asyncio.gather(*(executor.run(job, lambda done: None) for job in jobs))
    await executor.close()
    assert ["open", *["score"] * 4, "close"] == TOLD


def test_one_that_cannot_be_opened_says_so(tmp_path: Path) -> None:
    with pytest.raises(EngineFault, match="sick cannot be opened: no luck"):
        scored(Sick, tmp_path)
