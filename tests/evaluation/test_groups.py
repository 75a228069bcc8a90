"""Tasks in groups: each group has a memory of its own that knows that group's history alone."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import metamem
from metamem.core.errors import UsageError
from metamem.core.types import Design, Experience, Message, Observation, Task
from metamem.domains.base import DomainBase
from metamem.evaluation.jobs import Spec
from metamem.evaluation.plans import plan
from metamem.evaluation.rules import Rules

GROUPS = 6
PATH = "tests.evaluation.test_groups:Secrets"
RECALL = Design('''
from metamem.designs import Memory


class Recall(Memory):
    """Every message, word for word."""

    def __init__(self, tools):
        super().__init__(tools)
        self.said = []

    async def update(self, experience):
        self.said += [m.text for m in experience.messages]
        if "poison" in self.said:
            raise ValueError("that is too much")

    async def retrieve(self, query):
        self.said.append("asked before")
        return "\\n".join(self.said)
''')


class Asked:
    """The reward is 1 for handing over this group's word and nothing of any other group's."""

    def __init__(self, word: str) -> None:
        self.word = word

    def reset(self) -> Observation:
        return Observation("What is the word?")

    def step(self, action: str) -> Observation:
        return Observation("", (), float(action.split("\n") == [self.word, "asked before"]), True)

    def close(self) -> None:
        pass


class Secrets(DomainBase):
    name, version, max_steps = "secrets", "1", 1
    agent = "metamem.agents.relay:Relay"

    def __init__(self, poisoned: bool = False) -> None:
        self.poisoned = poisoned

    def describe(self) -> str:
        return "Say the word of this group."

    def tasks(self, split: str) -> list[Task]:
        groups = [f"{split}-{g}" for g in range(GROUPS)]
        return [Task(f"{g}-{n}", "say it", group=g) for n in range(3) for g in groups]

    def history(self, group: str) -> Sequence[Experience]:
        word = "poison" if self.poisoned and group.endswith("-0") else f"word-of-{group}"
        return [Experience(messages=(Message("A", word),))]

    def world(self, task: Task, seed: int) -> Asked:
        return Asked(f"word-of-{task.group}")

    def oracle(self, task: Task) -> str:
        return f"word-of-{task.group}\nasked before"


@pytest.mark.parametrize("executor", [Spec("inline"), Spec("local", {"workers": 2})])
def test_a_memory_knows_its_own_group_and_no_other(tmp_path: Path, executor: Spec) -> None:
    recalled, ceiling, nothing = metamem.evaluate(
        [RECALL, "oracle", "no_memory"], PATH, "test", home=tmp_path, executor=executor
    )
    assert (recalled.reward, ceiling.reward, nothing.reward) == (1.0, 1.0, 0.0)
    assert len(recalled.rows) == 3 * GROUPS


def test_a_history_that_a_design_cannot_bear_costs_only_that_group(tmp_path: Path) -> None:
    rows = {}
    for executor in (Spec("inline"), Spec("local", {"workers": 2})):
        (found,) = metamem.evaluate(
            RECALL,
            PATH,
            "test",
            home=tmp_path / executor.name,
            executor=executor,
            domain_settings={"poisoned": True},
        )
        failed = {row.task_id for row in found.rows if row.failure}
        assert failed == {f"test-0-{n}" for n in range(3)}
        assert found.reward == pytest.approx(1 - 1 / GROUPS)
        rows[executor.name] = sorted(found.rows, key=lambda row: row.task_id)
    assert rows["inline"] == rows["local"]


def test_the_halves_of_train_change_places_with_the_fold() -> None:
    grouped, toy = Secrets(), metamem.core.registry.create("domains", "toy")
    for domain in (grouped, toy):
        first, second = (plan(domain, "train", Rules(fold=fold)) for fold in (0, 1))
        one, two = {t.id for t in first.deployment}, {t.id for t in second.deployment}
        assert one.isdisjoint(two)
        assert one | two == {t.id for t in domain.tasks("train")}
        assert not {t.group for t in first.deployment if t.group} & {
            t.group for t in second.deployment
        }
    first, second = (plan(toy, "train", Rules(fold=fold)) for fold in (0, 1))
    assert first.collection == second.deployment
    assert plan(toy, "test", Rules(fold=1)) == plan(toy, "test", Rules())
    with pytest.raises(UsageError, match="fold"):
        Rules(fold=2)  # type: ignore[arg-type]


def test_a_design_that_fails_in_every_group_is_stopped_the_same_with_any_workers(
    tmp_path: Path,
) -> None:
    failing = Design(RECALL.source.replace("self.said +=", "self.lost +="))
    rows = [
        metamem.evaluate(failing, PATH, home=tmp_path / str(number), executor=executor)[0].rows
        for number, executor in enumerate((Spec("inline"), Spec("local", {"workers": 3})))
    ]
    assert rows[0] == rows[1]
    assert sum(row.failure.startswith("stopped") for row in rows[0]) == len(rows[0]) - 3
