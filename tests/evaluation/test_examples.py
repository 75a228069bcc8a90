"""Worked examples: whose they are, what they are made of, and what never gets into them."""

import re
from dataclasses import replace
from pathlib import Path

from metamem.api import open_home
from metamem.core import registry
from metamem.core.chat import Question
from metamem.core.types import Design
from metamem.designs.library import load
from metamem.evaluation.evaluator import Evaluator
from metamem.evaluation.inline import InlineExecutor
from metamem.evaluation.jobs import Setup, Spec
from metamem.evaluation.kinds.memories import ORACLE
from metamem.evaluation.plans import plan
from metamem.evaluation.rules import Rules
from metamem.models.broker import Broker
from metamem.models.config import ModelConfig

ASKED: list[Question] = []
MODEL = f"scripted:{__name__}:parrot"
COUNTS = Design(
    """
from metamem.designs import Memory


class Counts(Memory):
    \"\"\"Tells how many episodes it saw, and how many of the same goal.\"\"\"

    def __init__(self, tools):
        self.goals = []

    async def update(self, experience):
        self.goals.append(experience.goal)

    async def retrieve(self, query):
        return f"{len(self.goals)} episodes were seen"
""",
    name="counts",
)
BREAKS = Design(
    """
from metamem.designs import Memory


class Breaks(Memory):
    \"\"\"Cannot answer.\"\"\"

    async def update(self, experience):
        pass

    async def retrieve(self, query):
        raise ValueError("no")
""",
    name="breaks",
)
SETUP = Setup(
    Spec("alfworld", {"data": "generated", "train": 60, "test": 2}),
    Spec("llm", {"form": "transcript", "examples": 3}),
    Spec("hashed"),
    Rules(collect=20, max_steps=25),
    models={"agent": MODEL},
    collector=Spec("reader"),
)


def parrot(question: Question) -> str:
    """Takes the first action, and keeps what it was asked."""
    ASKED.append(question)
    return question.choices[0]


async def _asked(home: Path, design: Design, setup: Setup = SETUP) -> list[str]:
    """The first questions of the cases of a design."""
    ASKED.clear()
    with open_home(home) as archive:
        broker = Broker(archive, ModelConfig().open_roles({"agent": [MODEL]}))
        executor = InlineExecutor(lambda key: archive.blob(key) or b"", ask=broker.ask)
        try:
            found = await Evaluator(archive, executor, setup).evaluate(design, "test", purpose="t")
        finally:
            await executor.close()
            await broker.close()
    assert found.evaluation.complete
    texts = ["".join(turn.text for turn in question.turns) for question in ASKED]
    own = [text.rpartition("### Your task")[2] for text in texts]
    return [text for text, mine in zip(texts, own, strict=True) if mine.count("\n> ") == 1]


def _shown(text: str) -> list[str]:
    return text.partition("### Your task")[0].split("### Example")[1:]


async def test_each_row_sees_its_own_designs_notes_in_as_many_examples(tmp_path: Path) -> None:
    counted = await _asked(tmp_path, COUNTS)
    bare = await _asked(tmp_path, load("no_memory"))
    told = await _asked(tmp_path, ORACLE)
    assert len(counted) == len(bare) == len(told) == 2
    for texts in (counted, bare, told):
        assert len({tuple(_shown(text)) for text in texts}) == 1  # shared by the cases of a design
        assert len(_shown(texts[0])) == 3
    # The notes are those of a memory that has learned all there is to learn.
    assert all("20 episodes were seen" in example for example in _shown(counted[0]))
    assert not any("<notes>" in example for example in _shown(bare[0]))
    for example in _shown(told[0]):  # what the notes say is what is done
        notes = re.findall(r"(?s)<notes>\n(.*?)\n</notes>", example)[0].splitlines()
        done = re.findall(r"(?m)^> (.*)$", example)
        assert done == notes


async def test_a_design_that_fails_on_examples_fails_as_it_would_anyway(tmp_path: Path) -> None:
    assert await _asked(tmp_path, BREAKS) == []


async def test_without_the_wish_nothing_is_made_and_fingerprints_are_the_old_ones(
    tmp_path: Path,
) -> None:
    plain = replace(SETUP, agent=Spec("llm"), collector=None)
    with open_home(tmp_path) as archive:
        executor = InlineExecutor(lambda key: b"")
        found = {
            name: Evaluator(archive, executor, setup).fingerprint(COUNTS, "test").agent
            for name, setup in {
                "plain": plain,
                "taught": replace(plain, collector=Spec("reader")),
                "examples": SETUP,
            }.items()
        }
    assert found["plain"] == f"llm-1/6000/64/1024/0/None with {MODEL}, 0 tokens"
    assert len(set(found.values())) == 3 and "examples-1 by reader" in found["examples"]


def test_examples_are_of_tasks_that_nobody_learns_from_or_is_scored_on() -> None:
    domain = registry.create("domains", "alfworld", data="generated", train=60, test=2)
    for split, collect in (("test", 20), ("train", 20), ("test", None), ("train", None)):
        found = plan(domain, split, Rules(collect=collect), examples=3)
        train = {task.id for task in domain.tasks("train")}
        examples = {task.id for task in found.examples}
        assert len(examples) >= 6 and examples <= train
        used = {task.id for task in (*found.collection, *found.deployment)}
        assert not examples & used
        assert len({task.kind for task in found.examples[:6]}) > 3
        bare = plan(domain, split, Rules(collect=collect))
        assert bare.deployment == found.deployment and bare.examples == ()
