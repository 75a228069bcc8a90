"""One task played to its end. The one loop in which worlds, agents and memories meet."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from metamem.core.errors import DesignFailure
from metamem.core.protocols import Player, World
from metamem.core.tokens import truncate_tokens
from metamem.core.types import Advice, Episode, Query, Step, Task, render_advice
from metamem.core.waiting import Answer, Watch

# The advice; or an `Answer`, which may also say what the design waits for.
Ask = Callable[[Query], Awaitable[Any]]


async def play(
    task: Task,
    world: World,
    player: Player,
    ask: Ask | None,
    *,
    max_steps: int,
    advice_tokens: int,
    ask_every: int = 0,
    ask_when: int = 0,
) -> Episode:
    """Play `task`; memory is asked before the first action and, if wished, while acting.

    With nothing to say while the agent acts it adds nothing: what it said before still stands.
    """
    seen = first = world.reset()
    steps: list[Step] = []
    advice: list[Advice] = []
    watch = Watch(first, ask_every, ask_when)
    while len(steps) < max_steps and not seen.done:
        if ask is not None and watch.due:
            value = await ask(Query(task.goal, seen.text, seen.actions, tuple(steps)))
            answer = value if isinstance(value, Answer) else Answer(value)
            told = cap_advice(answer.advice, advice_tokens)
            advice.append(replace(told, at=len(steps), why=watch.why))
            watch.asked(answer.wait)
            if told.text or not steps:
                player.advise(told.text)
        action = await player.act(seen)
        # In a thread where a step may take long, so that this process can still say that it lives.
        slow = getattr(world, "slow", False)
        seen = await asyncio.to_thread(world.step, action) if slow else world.step(action)
        steps.append(Step(action, seen.text, seen.actions, seen.reward, seen.done))
        watch.saw(seen)
    return Episode(
        task.id, task.goal, first.text, first.actions, tuple(steps), seen.reward, tuple(advice)
    )


def cap_advice(value: Any, limit: int) -> Advice:
    """What the agent is shown of what memory returned: text within the token budget."""
    try:
        text = render_advice(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise DesignFailure(f"the advice cannot be shown: {error}", kind="protocol") from error
    text, count, truncated = truncate_tokens(text, limit)
    return Advice(text, count, truncated)
