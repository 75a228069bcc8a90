"""A model at one site: each question knows where it was asked, so that its answer is found again."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from metamem.core.chat import AskAt, AskModel, Question, Reply, Site, Turn
from metamem.core.errors import ModelRefused
from metamem.core.protocols import Chat
from metamem.models.structured import check_schema

DESIGN_REPLY_TOKENS = 4096


class PlacedChat:
    """One role's model at one site; numbers its questions, so that equal ones stay apart."""

    def __init__(self, ask: AskAt, site: Site, count: Callable[[int], None] | None = None) -> None:
        """`count` is told the tokens of each call."""
        self._ask, self._site, self._count = ask, site, count
        self._asked = 0

    async def ask(self, question: Question) -> Reply:
        site = replace(self._site, ordinal=self._asked)
        self._asked += 1
        try:
            reply = await self._ask(site, question)
        except ModelRefused as refused:
            self._spent(refused.tokens)
            raise
        self._spent(reply.usage.total)
        return reply

    def _spent(self, tokens: int) -> None:
        if self._count is not None:
            self._count(tokens)


def for_design(chat: Chat, most: int | None = None) -> AskModel:
    """A model as a design asks it, at most so often. What the design says is not trusted."""
    asked = 0

    async def ask(prompt: str, schema: dict[str, Any] | None, system: str) -> Any:
        nonlocal asked
        if most is not None and asked >= most:
            raise ModelRefused(f"no model answers more than {most} questions in an episode")
        if schema is not None:
            check_schema(schema, trusted=False)
        turns = [Turn("system", system)] if system else []
        turns.append(Turn("user", prompt))
        question = Question(tuple(turns), schema, max_tokens=DESIGN_REPLY_TOKENS)
        asked += 1
        reply = await chat.ask(question)
        return reply.text if schema is None else reply.value

    return ask
