"""Memory beside an agent of one's own: asked at the start, and again when what it waits for has come."""

from collections.abc import Callable, Sequence
from typing import Any

from metamem.core.episode import Ask, Asking
from metamem.core.types import Advice, Experience, Observation
from metamem.core.waiting import Watch


class AsyncActing:
    """One episode of an agent, as the memory that advises it sees it.

    `advice` is what the agent should be told now. After every action say what came back: where that
    is what the memory waits for, it is asked again.
    """

    def __init__(
        self,
        ask: Ask,
        goal: str,
        observation: str,
        actions: Sequence[str],
        *,
        advice_tokens: int,
        every: int,
        most: int,
    ) -> None:
        first = Observation(observation, tuple(actions))
        watch = Watch(first, every, most)
        self.advice = ""
        self._goal, self._first = goal, first
        self._asking = Asking(ask, goal, first, advice_tokens=advice_tokens, watch=watch)

    @property
    def asked(self) -> tuple[Advice, ...]:
        """What memory said each time: when it was asked, and why again."""
        return tuple(self._asking.advice)

    async def begin(self) -> None:
        """Called by whoever makes it: memory is asked before the first action."""
        self.advice = await self._asking.news() or ""

    async def saw(
        self,
        action: str,
        observation: str,
        actions: Sequence[str] = (),
        *,
        reward: float = 0.0,
        done: bool = False,
    ) -> bool:
        """What was done and what came back; true where there is other advice than before."""
        self._asking.saw(action, Observation(observation, tuple(actions), reward, done))
        told = None if done else await self._asking.news()
        if told is None or told == self.advice:
            return False
        self.advice = told
        return True

    def experience(self, reward: float) -> Experience:
        """All of it, for `update`."""
        first = self._first
        return Experience(self._goal, first.text, first.actions, tuple(self._asking.steps), reward)


class Acting:
    """`AsyncActing` with plain, blocking calls."""

    def __init__(self, acting: AsyncActing, wait: Callable[..., Any]) -> None:
        self._acting, self._wait = acting, wait

    @property
    def advice(self) -> str:
        return self._acting.advice

    @property
    def asked(self) -> tuple[Advice, ...]:
        return self._acting.asked

    def saw(
        self,
        action: str,
        observation: str,
        actions: Sequence[str] = (),
        *,
        reward: float = 0.0,
        done: bool = False,
    ) -> bool:
        """What was done and what came back; true where there is other advice than before."""
        saw = self._acting.saw(action, observation, actions, reward=reward, done=done)
        return bool(self._wait(saw))

    def experience(self, reward: float) -> Experience:
        return self._acting.experience(reward)
