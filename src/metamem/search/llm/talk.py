"""One model, asked stage by stage; everything asked and answered is kept."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from metamem.core.chat import Question, Turn
from metamem.core.errors import ModelRefused
from metamem.core.protocols import Chat

CALLS = "calls"


class Talk:
    """What was said so far, by earlier tries too, and a way to go on."""

    def __init__(self, chat: Chat, model: str, system: str, earlier: Mapping[str, Any]) -> None:
        self._chat, self._model, self._system = chat, model, system
        self._calls: list[dict[str, Any]] = [dict(call) for call in earlier.get(CALLS, ())]
        self.tokens = 0  # of this try alone

    @property
    def stages(self) -> dict[str, Any]:
        """All of it as plain JSON."""
        return {"model": self._model, CALLS: self._calls}

    def answer(self, stage: str) -> Any:
        """The last answer of a stage; None where there is none."""
        found = [
            call["reply"] for call in self._calls if call["stage"] == stage and "reply" in call
        ]
        return found[-1] if found else None

    def refusal(self) -> str:
        """Why the last call gave nothing; empty where it gave something."""
        return str(self._calls[-1].get("refused", "")) if self._calls else ""

    async def ask(
        self,
        stage: str,
        said: Sequence[tuple[str, Any]],
        request: str,
        tokens: int,
        schema: Mapping[str, Any] | None = None,
        **about: str,
    ) -> Any:
        """The answer to a request after what was said (request, answer); None where refused."""
        turns = [Turn("system", self._system)]
        for user, assistant in said:
            turns += [Turn("user", user), Turn("assistant", as_said(assistant))]
        question = Question((*turns, Turn("user", request)), schema=schema, max_tokens=tokens)
        call: dict[str, Any] = {"stage": stage, "prompt": question.digest, **about}
        self._calls.append(call)
        try:
            reply = await self._chat.ask(question)
        except ModelRefused as refused:
            self._spent(call, refused.tokens)
            call["refused"] = refused.message
            return None
        self._spent(call, reply.usage.total)
        call["reply"] = reply.text if schema is None else reply.value
        return call["reply"]

    def _spent(self, call: dict[str, Any], tokens: int) -> None:
        call["tokens"] = tokens
        self.tokens += tokens


def as_said(answer: Any) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, indent=1)
