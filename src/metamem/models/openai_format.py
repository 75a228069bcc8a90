"""Models behind OpenAI's chat format: OpenAI itself, and the many servers that speak it."""

import json
from typing import Any

from metamem.core.chat import Question, Usage
from metamem.models.base import Completion, Fault
from metamem.models.keys import Key
from metamem.models.served import Served, bearer
from metamem.models.spec import ModelOptions, ModelSpec
from metamem.models.structured import in_words
from metamem.models.wire import count

WINDOW = 128_000


class OpenAIFormat(Served):
    """One model of one server."""

    def __init__(
        self, spec: ModelSpec, options: ModelOptions, key: Key, *, limit: str = "max_tokens"
    ) -> None:
        """`limit` is how the server calls the most tokens that a reply may have."""
        super().__init__(spec, options, key, headers=bearer(key), window=WINDOW)
        self._limit = limit

    @property
    def fingerprint(self) -> str:
        settings = [self._options.constrain, self._options.structured, dict(self._options.extra)]
        if self._options.continues:
            settings.append("continues")
        plain = settings == ["", "schema", {}]
        return self.name if plain else f"{self.name} {json.dumps(settings, sort_keys=True)}"

    async def complete(self, question: Question) -> Completion:
        if question.running and self._options.continues:
            return _continuation(await self._wire.post("/completions", self._running(question)))
        return _completion(await self._wire.post("/chat/completions", self._body(question)))

    def _running(self, question: Question) -> dict[str, Any]:
        """Running text and the wish for its next line."""
        body: dict[str, Any] = {
            "model": self._spec.name,
            "prompt": "".join(turn.text for turn in question.turns),
            "max_tokens": question.max_tokens,
            "stop": ["\n"],
            **self._options.extra,
        }
        if question.temperature is not None:
            body["temperature"] = question.temperature
        return body | (_only(question.choices, self._options.constrain) if question.choices else {})

    def _body(self, question: Question) -> dict[str, Any]:
        messages = [{"role": turn.speaker, "content": turn.text} for turn in question.turns]
        body: dict[str, Any] = {
            "model": self._spec.name,
            "messages": messages,
            self._limit: question.max_tokens,
            **self._options.extra,
        }
        if question.temperature is not None:
            body["temperature"] = question.temperature
        if self._spec.effort:
            body["reasoning_effort"] = self._spec.effort
        if question.schema is not None:
            if self._options.structured == "schema":
                wanted = {"name": "reply", "schema": dict(question.schema)}
                body["response_format"] = {"type": "json_schema", "json_schema": wanted}
            else:
                messages.append({"role": "user", "content": in_words(question.schema)})
        if question.choices:
            body |= _only(question.choices, self._options.constrain)
        return body


def _only(choices: tuple[str, ...], how: str) -> dict[str, Any]:
    if how == "vllm":
        return {"structured_outputs": {"choice": list(choices)}}
    if how == "llama":
        return {"grammar": "root ::= " + " | ".join(json.dumps(c) for c in choices)}
    return {}


def _completion(data: dict[str, Any]) -> Completion:
    usage = _usage(data.get("usage"))
    try:
        message = data["choices"][0]["message"]
        text = message.get("content")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise Fault("the server's answer holds no message", billed=None) from error
    return _said(text, usage)


def _continuation(data: dict[str, Any]) -> Completion:
    try:
        text = data["choices"][0]["text"]
    except (KeyError, IndexError, TypeError) as error:
        raise Fault("the server's answer holds no text", billed=None) from error
    return _said(text, _usage(data.get("usage")))


def _said(text: Any, usage: Usage) -> Completion:
    if text is None:
        text = ""
    if not isinstance(text, str):
        raise Fault("the server's answer holds no text", billed=None)
    return Completion(text, usage)


def _usage(data: Any) -> Usage:
    if not isinstance(data, dict):
        return Usage()
    given, made = data.get("prompt_tokens_details"), data.get("completion_tokens_details")
    return Usage(
        input=count(data.get("prompt_tokens")),
        output=count(data.get("completion_tokens")),
        cached=count(given.get("cached_tokens")) if isinstance(given, dict) else 0,
        reasoning=count(made.get("reasoning_tokens")) if isinstance(made, dict) else 0,
    )
