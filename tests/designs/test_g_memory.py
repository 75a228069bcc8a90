"""G-Memory: key steps, a graph of tasks, and rules voted on by results."""

from dataclasses import replace

import pytest

from metamem.core.types import Design, Experience, Query, Step
from metamem.designs.human import g_memory
from metamem.designs.jailed import JailedMemory
from tests.designs.samples import VIEW, failed, fetched
from tests.designs.scripted import LOST, WON, Model, design, jail, learn, opened, told

__all__ = ["jail"]
pytestmark = pytest.mark.asyncio(loop_scope="module")


def many(number: int, *, won: bool = True) -> list[Experience]:
    things = ("lantern", "ladder", "banner", "drum", "harp", "rope")
    make = fetched if won else failed
    return [make(things[n % 6], "north tower", ("guard", "cook")[n % 2]) for n in range(number)]


class Rules(Model):
    """Answers what G-Memory asks with the operations given, once each."""

    def __init__(self, *operations: str) -> None:
        super().__init__(self.choose)
        self.operations = list(operations)
        self.merged = "nonsense"
        self.marks: dict[str, str] = {}

    def choose(self, prompt: str, system: str) -> str:
        if system == g_memory.KEY_STEPS:
            return "1. the key step"
        if system == g_memory.REASON:
            return "It looked in the wrong tower."
        if system == g_memory.RELEVANCE:
            return next((mark for word, mark in self.marks.items() if word in prompt), "Score: 1")
        if system.startswith("You tidy"):
            return self.merged
        return self.operations.pop(0) if self.operations else "nothing to change"


async def rules_of(memory: JailedMemory) -> list[str]:
    """All rules in the order of their telling, for a goal that all are linked to."""
    advice = await told(memory, Query(many(1)[0].goal, VIEW))
    return advice.partition("Rules that held for such tasks:\n")[2].splitlines()


async def test_g_memory_condenses_and_explains_failures(jail):
    model = Rules()
    memory = await opened(jail, "g_memory", model)
    punished = Step("jump", "You fall.", (), -1.0)
    await learn(memory, replace(WON, steps=(punished, *WON.steps)), LOST)
    systems = [system for _, system in model.asked]
    assert systems == [g_memory.KEY_STEPS, g_memory.KEY_STEPS, g_memory.REASON]
    assert "jump" not in model.asked[0][0] and "> grab lantern\n" in model.asked[0][0]
    all_punished = replace(WON, steps=(punished, punished))
    await learn(memory, replace(all_punished, goal="jump down", reward=0.0))
    assert "> jump" in model.asked[3][0]  # better than nothing
    advice = await told(memory)
    assert "1. the key step" in advice and "> grab lantern 1" in advice
    assert "south tower" not in advice.partition("All of it")[2].partition("Reward")[2]


async def test_g_memory_tells_the_win_that_the_model_finds_most_relevant(jail):
    model = Rules()
    memory = await opened(jail, "g_memory", model)
    await learn(memory, WON, fetched("lantern", "mill", "cook"), LOST)
    assert "north tower" in await told(memory)  # equal marks: the nearest
    model.marks = {"> go to mill": "I would say 9 out of 10"}
    advice = await told(memory)
    assert "mill" in advice and "north tower 1 holds" not in advice
    model.away = True
    assert "north tower 1 holds" in await told(memory)


async def test_g_memory_looks_at_rules_after_every_fifth_episode_only(jail):
    model = Rules("ADD: Look first.")
    memory = await opened(jail, "g_memory", model)
    await learn(memory, *many(4))
    assert len(model.asked) == 4 and await rules_of(memory) == []
    await learn(memory, *many(5)[4:])
    assert await rules_of(memory) == ["- Look first."]
    asked = [system for _, system in model.asked if system.startswith("You keep a list")]
    assert 1 <= len(asked) <= 15


@pytest.mark.parametrize(
    ("operation", "after", "after_a_loss"),
    [
        ("nothing", "Alpha Beta", ""),  # new rules have 2, and a loss takes 2
        ("AGREE 1", "Alpha Beta", "Alpha"),
        ("EDIT 1: Better", "Better Beta", "Better"),
        ("EDIT 2: Alpha", "Alpha Beta", "Alpha"),  # there already: agreed with
        ("REMOVE 1\nAGREE 1\nAGREE 1", "Alpha Beta", "Alpha"),
        ("REMOVE 1\nREMOVE 1", "Beta", ""),
        ("ADD: Alpha\nAGREE 9\nREMOVE 0\nEDIT 1:", "Alpha Beta", ""),
        ("EDIT: Nothing\nAGREE\nREMOVE", "Alpha Beta", ""),
        ("ADD: Gamma\nAGREE 1\nAGREE 2\nAGREE 1\nREMOVE 2", "Alpha Beta Gamma", "Alpha Beta"),
    ],
)
async def test_g_memory_adds_edits_agrees_and_removes(jail, operation, after, after_a_loss):
    memory = await opened(jail, "g_memory", Rules("ADD: Alpha\nADD: Beta", operation))
    await learn(memory, *[WON] * 5)
    assert await rules_of(memory) == [f"- {rule}" for rule in after.split()]
    await learn(memory, LOST)
    assert await rules_of(memory) == [f"- {rule}" for rule in after_a_loss.split()]


async def test_g_memory_removes_faster_where_there_are_many_rules(jail):
    for full_at, left in ((3, "Beta"), (2, "Beta"), (9, "Alpha Beta")):
        model = Rules(
            "ADD: Alpha\nADD: Beta\nADD: Gamma", "AGREE 1", "REMOVE 1\nREMOVE 3\nREMOVE 3"
        )
        source = design("g_memory").source.replace(
            "DOWN_FULL, FULL_AT = 2, 1, 1, 3, 10", f"DOWN_FULL, FULL_AT = 2, 1, 1, 3, {full_at}"
        )
        memory = await opened(jail, Design(source), model)
        await learn(memory, *[WON] * 5)
        assert await rules_of(memory) == [f"- {rule}" for rule in left.split()]
        asked = [system for _, system in model.asked if g_memory.FULL in system]
        assert bool(asked) == (full_at < 9)


async def test_g_memory_rules_answer_for_the_results_of_the_goal_they_were_told_for(jail):
    async def alive() -> bool:
        return bool(await rules_of(await memory.fork()))

    memory = await opened(jail, "g_memory", Rules("ADD: Alpha", "AGREE 1"))
    await learn(memory, *[WON] * 5)  # its score is 3
    await learn(memory, LOST)
    assert await alive()  # nobody was told: no vote
    await rules_of(memory)
    await learn(memory, *[failed("kite", "north tower", "king")] * 2)
    assert await alive()  # told for another goal: no vote
    await learn(memory, LOST)
    assert await alive()  # 3 - 2
    for _ in range(2):
        await rules_of(memory)
        await learn(memory, WON)  # 1 + 1 + 1
    for left in (True, False):  # 3 - 2, 1 - 2
        await rules_of(memory)
        await learn(memory, LOST)
        assert await alive() == left


@pytest.mark.parametrize(
    ("merged", "rules"),
    [
        ("1. Merged one.\n2. Merged two.\n3. Third.", ["- Merged one.", "- Merged two."]),
        ("1. Only one.", ["- Alpha.", "- Beta.", "- Gamma."]),
        ("all is well", ["- Alpha.", "- Beta.", "- Gamma."]),
    ],
)
async def test_g_memory_merges_with_the_episode_after_the_twentieth(jail, merged, rules):
    model = Rules("ADD: Alpha.\nADD: Beta.\nADD: Gamma.\nADD: Delta.")
    model.merged = merged
    memory = await opened(jail, "g_memory", model)
    same = [many(1)[0]] * 21
    await learn(memory, *same[:20])
    assert await rules_of(memory) == ["- Alpha.", "- Beta.", "- Gamma."]
    assert not any(system.startswith("You tidy") for _, system in model.asked)
    fresh = await opened(jail, "g_memory", model, await memory.snapshot())
    await learn(fresh, *same[20:])
    assert any("4. Delta." in prompt for prompt, s in model.asked if s.startswith("You tidy"))
    assert await rules_of(fresh) == rules


async def test_g_memory_stays_within_twenty_calls_whatever_happens(jail):
    model = Rules(*[f"ADD: Rule {n}.\nADD: Rule {n} too." for n in range(400)])
    memory = await opened(jail, "g_memory", model)  # the jail ends a design that asks for more
    most = 0
    for n in range(45):
        before = len(model.asked)
        await memory.update(many(6, won=n % 3 > 0)[n % 6])
        most = max(most, len(model.asked) - before)
    assert 10 < most <= 20
    assert "Rules that held" in await told(memory)
