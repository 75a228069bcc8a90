"""Where tasks are in groups, a memory may study what other groups lived through before its own life."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import metamem
from metamem.api import open_home
from metamem.core.errors import UsageError
from metamem.core.types import Case, Design, Experience, Message, Observation, Task
from metamem.domains.base import DomainBase
from metamem.evaluation.evaluator import Evaluator
from metamem.evaluation.inline import InlineExecutor
from metamem.evaluation.jobs import CaseDone, Job, JobDone, Setup, Spec
from metamem.evaluation.plans import plan
from metamem.evaluation.rules import Rules

WORDS = ("alder", "birch", "cedar")
PATH = "tests.evaluation.test_lives:Ciphers"
STUDIOUS = Design('''
from metamem.designs import Memory


class Studious(Memory):
    """What each word stands for, as others found out, and the last word that was said here."""

    def __init__(self, tools):
        super().__init__(tools)
        self.stands_for, self.word = {}, ""

    async def study(self, life):
        said = [m.text for e in life for m in e.messages]
        for episode in life:
            for step in episode.steps:
                self.stands_for[said[-1]] = step.observation

    async def update(self, experience):
        self.word = experience.messages[-1].text

    async def retrieve(self, query):
        return self.stands_for.get(self.word, "")
''')
ALONE = Design(STUDIOUS.source.replace("def study", "def ignore"))
SICK = Design(STUDIOUS.source.replace("said = [", "self.nothing, said = 1 / 0, ["))


class Answered:
    def __init__(self, right: str) -> None:
        self.right = right

    def reset(self) -> Observation:
        return Observation("What does it stand for?")

    def step(self, action: str) -> Observation:
        return Observation(self.right, (), float(action == self.right), True)

    def close(self) -> None:
        pass


class Ciphers(DomainBase):
    """A word is said in each group; what it stands for is seen only when a question is over."""

    name, version, max_steps, lives = "ciphers", "1", 1, 6
    agent = "metamem.agents.relay:Relay"

    def __init__(self, train: int = 6) -> None:
        self.train = train

    def tasks(self, split: str) -> list[Task]:
        groups = [f"{split}-{n}" for n in range(self.train if split == "train" else 6)]
        return [Task(f"{g}-{n}", "translate", group=g) for g in groups for n in range(2)]

    def history(self, group: str) -> Sequence[Experience]:
        return [Experience(messages=(Message("A", self._word(group)),))]

    def world(self, task: Task, seed: int) -> Answered:
        return Answered(self._word(task.group)[::-1])

    def oracle(self, task: Task) -> str:
        return self._word(task.group)[::-1]

    def _word(self, group: str) -> str:
        return WORDS[int(group.rpartition("-")[2]) % len(WORDS)]


def rewards(home: Path, split: str = "test", **settings: int | Rules) -> list[float]:
    found = metamem.evaluate(
        [STUDIOUS, ALONE], PATH, split, home=home, executor=Spec("inline"), **settings
    )
    return [one.reward for one in found]


def test_what_others_found_out_helps_whoever_studies_it(tmp_path: Path) -> None:
    assert rewards(tmp_path) == [1.0, 0.0]


def test_on_train_the_lives_of_the_other_half_are_studied(tmp_path: Path) -> None:
    assert rewards(tmp_path, "train") == [1.0, 0.0]


def test_collect_counts_lives(tmp_path: Path) -> None:
    assert rewards(tmp_path, rules=Rules(collect=1)) == [pytest.approx(1 / 3), 0.0]
    assert rewards(tmp_path, rules=Rules(collect=2)) == [pytest.approx(2 / 3), 0.0]


def test_collect_nothing_is_no_experience_at_all(tmp_path: Path) -> None:
    told = Design(ALONE.source.replace('self.stands_for.get(self.word, "")', "self.word[::-1]"))
    for collect, expected in ((None, 1.0), (0, 0.0)):
        (found,) = metamem.evaluate(
            told, PATH, "test", home=tmp_path, executor=Spec("inline"), rules=Rules(collect=collect)
        )
        assert found.reward == expected


def test_more_lives_than_there_are_is_refused() -> None:
    assert plan(Ciphers(), "test", Rules()).collectable == 6
    with pytest.raises(UsageError, match="7 groups of tasks"):
        plan(Ciphers(), "test", Rules(collect=7))


def test_a_domain_says_how_many_lives_are_enough() -> None:
    many = Ciphers(train=50)
    assert plan(many, "test", Rules()).collectable == 6
    assert plan(many, "test", Rules(collect=20)).collectable == 20


def test_few_tasks_of_many_groups_are_drawn_from_few_groups() -> None:
    many = Ciphers(train=50)
    some, more = (plan(many, "train", Rules(tasks=n)).deployment for n in (7, 12))
    assert (len(some), len({t.group for t in some})) == (7, 4)
    assert {t.id for t in some} < {t.id for t in more}


async def job_done(tmp_path: Path, design: Design) -> tuple[JobDone, list[CaseDone]]:
    setup = Setup(Spec(PATH), Spec(Ciphers.agent), Spec("hashed"), Rules())
    with open_home(tmp_path) as archive:
        executor = InlineExecutor(lambda key: archive.blob(key) or b"")
        try:
            evaluator = Evaluator(archive, executor, setup)
            job = Job(
                "job",
                setup,
                "test",
                tuple(Case(t.id) for t in evaluator.domain.tasks("test")),
                design=design,
                experiences=await evaluator.collected("test"),
            )
            rows: list[CaseDone] = []
            return await executor.run(job, rows.append), rows
        finally:
            await executor.close()


async def test_lives_are_studied_once_for_all_groups(tmp_path: Path) -> None:
    done, rows = await job_done(tmp_path, STUDIOUS)
    assert [case.row.reward for case in rows] == [1.0] * 12
    assert (done.cpu.calls["study"], done.cpu.calls["update"]) == (6, 6)


async def test_who_does_not_study_is_given_no_lives(tmp_path: Path) -> None:
    done, _ = await job_done(tmp_path, ALONE)
    assert "study" not in done.cpu.calls


async def test_who_cannot_bear_a_life_fails_and_says_why(tmp_path: Path) -> None:
    done, rows = await job_done(tmp_path, SICK)
    assert "ZeroDivisionError" in done.error
    assert all(case.row.failure for case in rows)
