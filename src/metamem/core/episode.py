"""One task played to its end. The one loop in which worlds, agents and memories meet."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from metamem.core.errors import DesignFailure
from metamem.core.protocols import Player, World
from metamem.core.tokens import truncate_tokens
from metamem.core.types import Advice, Episode, Observation, Query, Step, Task, render_advice
from metamem.core.waiting import Answer, Watch

# The advice; or an `Answer`, which may also say what the design waits for.
Ask = Callable[[Query], Awaitable[Any]]


class Asking:
    """Memory beside one who acts: asked before the first action and, by the rule, while acting."""

    def __init__(
        self, ask: Ask, goal: str, first: Observation, *, advice_tokens: int, watch: Watch
    ) -> None:
        self._ask, self._goal, self._tokens = ask, goal, advice_tokens
        self._watch, self._first, self._now = watch, first, first
        self.steps: list[Step] = []
        self.advice: list[Advice] = []  # one for each time memory was asked

    async def news(self) -> str | None:
        """What memory says now; None where it is not asked, or has nothing to add.

        With nothing to say while the agent acts it adds nothing: what it said before still stands.
        """
        if not self._watch.due:
            return None
        value = await self._ask(self._query())
        answer = value if isinstance(value, Answer) else Answer(value)
        told = cap_advice(answer.advice, self._tokens)
        self.advice.append(replace(told, at=len(self.steps), why=self._watch.why))
        self._watch.asked(answer.wait)
        return told.text if told.text or not self.steps else None

    def _query(self) -> Query:
        now, first = self._now, self._first
        if not self.steps:
            return Query(self._goal, now.text, now.actions)
        return Query(
            self._goal, now.text, now.actions, tuple(self.steps), first.text, first.actions
        )

    def saw(self, action: str, seen: Observation) -> None:
        """What was done, and what came back."""
        self.steps.append(Step(action, seen.text, seen.actions, seen.reward, seen.done))
        self._now = seen
        self._watch.saw(seen)


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
    """Play `task`; memory is asked before the first action and, if wished, while acting."""
    seen = first = world.reset()
    asking = Asking(
        ask or _nobody,
        task.goal,
        first,
        advice_tokens=advice_tokens,
        watch=Watch(first, ask_every, ask_when),
    )
    steps = asking.steps
    while len(steps) < max_steps and not seen.done:
        if ask is not None and (told := await asking.news()) is not None:
            player.advise(told)
        action = await player.act(seen)
        # In a thread where a step may take long, so that this process can still say that it lives.
        slow = getattr(world, "slow", False)
        seen = await asyncio.to_thread(world.step, action) if slow else world.step(action)
        asking.saw(action, seen)
    return Episode(
        task.id,
        task.goal,
        first.text,
        first.actions,
        tuple(steps),
        seen.reward,
        tuple(asking.advice),
    )


async def _nobody(query: Query) -> None:
    return None


def cap_advice(value: Any, limit: int) -> Advice:
    """What the agent is shown of what memory returned: text within the token budget."""
    try:
        text = render_advice(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise DesignFailure(f"the advice cannot be shown: {error}", kind="protocol") from error
    text, count, truncated = truncate_tokens(text, limit)
    return Advice(text, count, truncated)
