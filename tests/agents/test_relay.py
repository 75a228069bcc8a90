"""The relay hands over what it is told; in dialogue, right advice helps and wrong advice hurts."""

from statistics import fmean

from metamem.agents.relay import Relay
from metamem.core.episode import play
from metamem.core.protocols import Seat
from metamem.core.types import Observation, Query, Task
from metamem.domains.dialogue.domain import DialogueDomain

DOMAIN = DialogueDomain(train=3, valid=1, test=1, shift=1)
TASKS = DOMAIN.tasks("train")


async def reward(task: Task, advice: str | None) -> float:
    async def ask(query: Query) -> str:
        return advice or ""

    episode = await play(
        task,
        DOMAIN.world(task, 0),
        Relay().start(Seat(task.goal, 0)),
        None if advice is None else ask,
        max_steps=DOMAIN.max_steps,
        advice_tokens=4000,
    )
    return episode.reward


async def test_it_hands_over_the_latest_advice_word_for_word() -> None:
    player = Relay().start(Seat("a question", 0))
    assert await player.act(Observation("seen")) == ""
    player.advise("first")
    player.advise("  second,\nas it is ")
    assert await player.act(Observation("seen", ("one", "two"))) == "  second,\nas it is "


async def test_right_advice_helps() -> None:
    alone = fmean([await reward(task, None) for task in TASKS])
    advised = fmean([await reward(task, DOMAIN.oracle(task)) for task in TASKS])
    assert alone < 0.2
    assert advised == 1.0


async def test_wrong_advice_hurts() -> None:
    """What is superseded or withdrawn, after what is right."""
    tasks = [t for t in TASKS if t.data["question"].against]
    for task in tasks:
        wrong = f"{DOMAIN.oracle(task)}\n{task.data['question'].against[0]}"
        assert await reward(task, wrong) <= 0.5


async def test_irrelevant_advice_does_little() -> None:
    """What answers a question about another conversation is no answer here, and costs a little."""
    shifted = [*TASKS[21:], *TASKS[:21]]
    assert all(a.group != b.group for a, b in zip(TASKS, shifted, strict=True))
    pairs = list(zip(TASKS, shifted, strict=True))
    alone = fmean([await reward(task, None) for task in TASKS])
    misled = fmean([await reward(task, DOMAIN.oracle(other)) for task, other in pairs])
    assert abs(misled - alone) < 0.1
