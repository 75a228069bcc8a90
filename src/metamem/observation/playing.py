"""One dialogue with one set of settings: the design lives through it, then questions are asked.

The memory is the design itself, `Observational`, with the settings that a memory in use would have; only
the way to a model is another. Nothing of what it does is told twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metamem.core.chat import AskModel, Question, Reply, Turn
from metamem.core.episode import cap_advice
from metamem.core.errors import ModelRefused, ModelUnavailable
from metamem.core.protocols import Chat
from metamem.core.tokens import count_tokens
from metamem.core.types import Experience, Query
from metamem.designs.human.observational import Observational, Settings
from metamem.designs.toolbox import Tools
from metamem.models.placed import for_design
from metamem.observation import scripted
from metamem.observation.dialogues import Asked, Dialogue

ANSWER_TOKENS = 256
ASKED_FOR = "answer questions about what was said"


@dataclass(frozen=True, slots=True)
class Played:
    """What came of it."""

    right: tuple[bool, ...]  # by question
    told: int  # tokens
    observer: int  # calls
    reflector: int
    prompts: int  # tokens of all prompts of these two


class Scripted:
    """The model of `scripted.answer`, for whoever has no other."""

    async def ask(self, question: Question) -> Reply:
        return Reply(scripted.answer(question))


class _Host:
    """What a design has around it: a model, counted, and a log that nobody reads."""

    def __init__(self, chat: Chat) -> None:
        self._ask: AskModel = for_design(chat)
        self.observer = self.reflector = self.prompts = 0

    async def ask(self, tool: str, data: Mapping[str, Any]) -> Any:
        if tool != "llm":
            raise RuntimeError(f"there is no {tool} here")
        prompt, system = data["prompt"], data["system"]
        self.prompts += count_tokens(prompt) + count_tokens(system)
        if system == Observational.REFLECTOR:
            self.reflector += 1
        else:
            self.observer += 1
        try:
            return await self._ask(prompt, data["schema"], system)
        except (ModelRefused, ModelUnavailable) as error:
            raise RuntimeError(error.message) from error  # as the jail says it to a design

    def log(self, message: str) -> None:
        pass


async def play(
    settings: Settings, shown: Dialogue, chat: Chat, advice_tokens: int, seed: int
) -> Played:
    host = _Host(chat)
    memory = Observational(Tools(host, seed), settings)
    await _live(memory, shown.sessions)
    # Asked once, as at the start of a conversation: what it tells is the same whatever comes up.
    advice = cap_advice(await memory.retrieve(Query(ASKED_FOR)), advice_tokens)
    right = [
        await _answered(chat, advice.text, asked) == asked.options[asked.right]
        for asked in shown.asked
    ]
    return Played(tuple(right), advice.tokens, host.observer, host.reflector, host.prompts)


async def _live(memory: Observational, sessions: Sequence[Experience]) -> None:
    for session in sessions:
        await memory.update(session)


async def _answered(chat: Chat, advice: str, asked: Asked) -> str:
    """Which option whoever has read the advice takes; empty where they take none."""
    prompt = f"<notes>\n{advice}\n</notes>\n\n{asked.text}"
    turns = (Turn("system", scripted.READER), Turn("user", prompt))
    question = Question(turns, choices=asked.options, max_tokens=ANSWER_TOKENS)
    try:
        said = (await chat.ask(question)).text
    except ModelRefused:
        return ""
    exact = [o for o in asked.options if o.casefold() == said.strip().casefold()]
    named = exact or [option for option in asked.options if option.casefold() in said.casefold()]
    return named[0] if len(named) == 1 else ""
