"""The models, as the agents and designs of one job may use them: each question knows its place."""

from dataclasses import replace
from typing import Any

from metamem.core.chat import AskAt, AskModel, Question, Reply, Role, Site, Turn
from metamem.core.errors import ModelRefused
from metamem.core.protocols import Place
from metamem.evaluation.jobs import Job
from metamem.models.structured import check_schema

DESIGN_REPLY_TOKENS = 4096


class PlacedChat:
    """One role's model at one place; numbers its questions, so that equal ones stay apart."""

    def __init__(self, ask: AskAt, site: Site, chats: "Chats | None" = None) -> None:
        self._ask, self._site, self._chats = ask, site, chats
        self._asked = 0

    async def ask(self, question: Question) -> Reply:
        site = replace(self._site, ordinal=self._asked)
        self._asked += 1
        try:
            reply = await self._ask(site, question)
        except ModelRefused as refused:
            self._count(refused.tokens)
            raise
        self._count(reply.usage.total)
        return reply

    def _count(self, tokens: int) -> None:
        if self._chats is not None:
            self._chats.calls += 1
            self._chats.tokens += tokens


def for_design(chat: PlacedChat) -> AskModel:
    """A model as a design asks it. What the design says is not trusted."""

    async def ask(prompt: str, schema: dict[str, Any] | None, system: str) -> Any:
        if schema is not None:
            check_schema(schema, trusted=False)
        turns = [Turn("system", system)] if system else []
        turns.append(Turn("user", prompt))
        question = Question(tuple(turns), schema, max_tokens=DESIGN_REPLY_TOKENS)
        reply = await chat.ask(question)
        return reply.text if schema is None else reply.value

    return ask


class Chats:
    """Gives out chats and adds up what they cost."""

    def __init__(self, job: Job, ask: AskAt | None) -> None:
        self._job, self._ask = job, ask
        self.calls = 0
        self.tokens = 0

    def for_agent(self, task: str, repeat: int) -> PlacedChat | None:
        return self._chat(self._site("agent", self._job.phase, task, repeat))

    def for_design(self, phase: str, task: str, repeat: int = 0) -> Place:
        """Where a memory is called, with the model as a design asks it, where there is one."""
        site = self._site("memory", phase, task, repeat)
        chat = self._chat(site)
        return Place(site, None if chat is None else for_design(chat))

    def _site(self, role: Role, phase: str, task: str, repeat: int) -> Site:
        design = self._job.design.id if self._job.design is not None else ""
        return Site(role, "", design, phase, task, repeat, self._job.setup.seed)

    def _chat(self, site: Site) -> PlacedChat | None:
        if self._ask is None or site.role not in self._job.setup.models:
            return None
        return PlacedChat(self._ask, site, self)
