"""ALMA's `Agent` helper: a system prompt, perhaps a schema, and questions to a model."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from metamem.designs.alma.runtime import desk
from metamem.designs.alma.schemas import real_schema

Message = dict[str, Any]


class Agent:
    """Asks the host's model, whatever model is named: its settings are the host's too."""

    def __init__(
        self,
        system_prompt: str,
        output_schema: Mapping[str, Any] | None = None,
        model: str | None = "gpt-4.1",
    ) -> None:
        self.model = model
        self.messages: list[Message] = [{"role": "system", "content": system_prompt}]
        self.output_schema = output_schema or None

    def get_agent_config(self) -> dict[str, Any]:
        system, *history = self.messages
        return {"model": self.model, "system_prompt": system, "history": history}

    async def ask(
        self,
        user_input: Any,
        with_full_msg: bool = False,
        with_history: bool = False,
        temperature: float | None = None,
        reasoning_effort: str | None = None,
    ) -> Any:
        """The reply: text, or with a schema a value that fits it.

        Raises `RuntimeError` where there is no model, or no reply that will do.
        """
        self.messages.append({"role": "user", "content": user_input})
        if with_full_msg:
            messages = user_input
        elif with_history:
            messages = self.messages
        else:
            messages = [self.messages[0], self.messages[-1]]
        system, prompt = _flat(messages)
        schema = None if self.output_schema is None else real_schema(self.output_schema)
        reply = await desk().llm.ask(prompt, schema, system=system)
        self.messages.append({"role": "assistant", "content": _text(reply)})
        return reply


def _flat(messages: Sequence[Message]) -> tuple[str, str]:
    """A conversation as a system message and one prompt, which is what the host takes."""
    system = "\n\n".join(_text(m["content"]) for m in messages if m["role"] == "system")
    said = [m for m in messages if m["role"] != "system"]
    if len(said) == 1:
        return system, _text(said[0]["content"])
    return system, "\n\n".join(f"{m['role']}: {_text(m['content'])}" for m in said)


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
