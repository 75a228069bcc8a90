"""The domain over own conversations, put through the suite of every domain and more."""

import random
from statistics import fmean

import pytest
from bench.dialogue import figures, replies

from metamem.core.errors import UsageError
from metamem.core.ids import derive_seed
from metamem.core.protocols import Domain
from metamem.core.types import SPLITS, Task
from metamem.designs.jailed import Jail
from metamem.designs.library import load
from metamem.domains.conformance import DomainConformance
from metamem.domains.dialogue.domain import DialogueDomain
from metamem.models.hashed_embedder import HashedEmbedder


def small(**settings: int) -> DialogueDomain:
    return DialogueDomain(**{"train": 2, "valid": 2, "test": 2, "shift": 2} | settings)


class TestDialogue(DomainConformance):
    played = 20

    def make(self) -> DialogueDomain:
        return small()

    async def by_chance(self, domain: Domain, task: Task) -> float:
        """Any few lines of the conversation."""
        rng = random.Random(derive_seed("chance", task.id))
        lines = [step.observation for e in domain.history(task.group) for step in e.steps]
        world = domain.world(task, 0)
        world.reset()
        return world.step("\n".join(rng.sample(lines, 5))).reward


def test_every_oracle_reaches_one() -> None:
    domain = small()
    for split in SPLITS:
        for task in domain.tasks(split):
            assert domain.world(task, 0).step(domain.oracle(task)).reward == 1.0, task.id


def test_a_group_is_a_conversation_of_one_split() -> None:
    domain = small()
    groups = {split: {task.group for task in domain.tasks(split)} for split in SPLITS}
    assert all(len(own) == 2 for own in groups.values())
    assert len(set.union(*groups.values())) == 8


def test_the_history_tells_the_same_as_messages_and_as_steps() -> None:
    domain = small(batch=3)
    for task in domain.tasks("shift")[:1]:
        history = domain.history(task.group)
        assert all(1 <= len(batch.messages) <= 3 for batch in history)
        for batch in history:
            assert len({message.time for message in batch.messages}) == 1
            for message, step in zip(batch.messages, batch.steps, strict=True):
                assert step.action == message.text
                assert step.observation == f"{message.time}, {message.speaker}: {message.text}"
                assert f"{message.speaker}: {message.text}" in batch.goal


def test_the_history_holds_all_evidence_and_no_question() -> None:
    domain = small()
    for split in SPLITS:
        for task in domain.tasks(split):
            said = [m.text for batch in domain.history(task.group) for m in batch.messages]
            assert task.goal not in said
            question = task.data["question"]
            assert all(e.text in said for group in question.evidence for e in group)


def test_the_world_shows_the_question_and_its_day_and_ends_after_one_reply() -> None:
    domain = small()
    for task in domain.tasks("valid"):
        world = domain.world(task, 0)
        seen = world.reset()
        assert seen.text == f"Asked on {task.data['question'].date}: {task.goal}"
        assert not seen.done
        assert world.step("anything").done


def test_the_budget_cuts_replies() -> None:
    wide, narrow = small(budget=200), small(budget=5)

    def reached(domain: DialogueDomain) -> float:
        tasks = domain.tasks("test")
        return fmean(domain.world(t, 0).step(domain.oracle(t)).reward for t in tasks)

    assert reached(wide) == 1.0
    assert reached(narrow) < 0.6


def test_fewer_questions_are_some_of_all() -> None:
    every, some = small(), small(questions=5)
    ids = [task.id for task in every.tasks("test")]
    chosen = [task.id for task in some.tasks("test")]
    assert len(chosen) == 10
    assert chosen == [i for i in ids if i in set(chosen)]


def test_the_version_names_the_data() -> None:
    versions = {
        small(**changed).version
        for changed in (
            {},
            {"seed": 1},
            {"train": 3},
            {"questions": 5},
            {"budget": 9},
            {"batch": 1},
        )
    }
    assert len(versions) == 6


@pytest.mark.parametrize("wrong", [{"train": 0}, {"questions": -1}, {"budget": 0}, {"batch": 0}])
def test_settings_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        small(**wrong)


def test_an_unknown_split_is_refused() -> None:
    with pytest.raises(UsageError, match="no split called"):
        small().tasks("dev")


async def test_a_memory_that_was_given_the_history_answers_and_one_without_does_not() -> None:
    domain = small(valid=1)
    tasks = [t for t in domain.tasks("valid") if t.data["question"].answerable]
    async with Jail() as jail:
        told = {
            name: await replies(jail, domain, design, tasks, HashedEmbedder())
            for name, design in (("none", load("no_memory")), ("search", load("line_search")))
        }
    reached = {name: figures(domain, tasks, texts)["all"] for name, texts in told.items()}
    assert reached["none"] == 0
    assert reached["search"] > 0.3


def test_the_reserve_has_conversations_of_its_own() -> None:
    domain = small(reserve=3)
    groups = {task.group for task in domain.reserve()}
    assert len(groups) == 3 and all(domain.history(group) for group in groups)
    assert not groups & {task.group for split in SPLITS for task in domain.tasks(split)}
    said = [
        {line.text for session in domain.history(group) for line in session.messages}
        for group in sorted(groups)
    ]
    assert said[0] != said[1] != said[2]
    with pytest.raises(UsageError, match="reserve"):
        small(reserve=-1)
