"""Models behind Anthropic's messages format."""

import json
from typing import Any

from metamem.core.chat import Question, Usage
from metamem.models.base import Completion, Fault
from metamem.models.keys import Key
from metamem.models.served import Served
from metamem.models.spec import ModelOptions, ModelSpec
from metamem.models.wire import count

VERSION = "2023-06-01"
WINDOW = 200_000
_THINKING = {"minimal": 1024, "low": 1024, "medium": 4096, "high": 16_384, "xhigh": 32_768}
_LEAST_THINKING = 1024
_ANSWER = "answer"  # the tool whose input is the JSON that was asked for


class AnthropicFormat(Served):
    """One model of Anthropic's, or of a server that speaks the same format."""

    def __init__(self, spec: ModelSpec, options: ModelOptions, key: Key) -> None:
        headers = {"anthropic-version": VERSION}
        if key.reveal():
            headers["x-api-key"] = key.reveal()
        super().__init__(spec, options, key, headers=headers, window=WINDOW)

    @property
    def fingerprint(self) -> str:
        extra = dict(self._options.extra)
        return f"{self.name} {json.dumps(extra, sort_keys=True)}" if extra else self.name

    async def complete(self, question: Question) -> Completion:
        return _completion(await self._wire.post("/messages", self._body(question)))

    def _body(self, question: Question) -> dict[str, Any]:
        system = "\n\n".join(t.text for t in question.turns if t.speaker == "system")
        turns = [t for t in question.turns if t.speaker != "system"]
        body: dict[str, Any] = {
            "model": self._spec.name,
            "max_tokens": question.max_tokens,
            "messages": [{"role": t.speaker, "content": t.text} for t in turns],
            **self._options.extra,
        }
        if system:  # the same for many calls: worth keeping on their side
            mark = {"type": "ephemeral"}
            body["system"] = [{"type": "text", "text": system, "cache_control": mark}]
        if question.temperature is not None:
            body["temperature"] = question.temperature
        if question.schema is not None:
            schema = dict(question.schema)
            body["tools"] = [{"name": _ANSWER, "description": "Answer.", "input_schema": schema}]
            body["tool_choice"] = {"type": "tool", "name": _ANSWER}
        else:
            # Thoughts are part of the reply's limit, and their least share is set by the provider.
            share = min(_THINKING.get(self._spec.effort, 0), question.max_tokens // 2)
            if share >= _LEAST_THINKING:
                body["thinking"] = {"type": "enabled", "budget_tokens": share}
                body.pop("temperature", None)  # refused beside thinking
        return body


def _completion(data: dict[str, Any]) -> Completion:
    blocks = data.get("content")
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise Fault("the server's answer holds no content", billed=None)
    texts = []
    for block in blocks:
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif block.get("type") == "tool_use":
            texts.append(json.dumps(block.get("input")))
    return Completion("".join(texts), _usage(data.get("usage")))


def _usage(data: Any) -> Usage:
    if not isinstance(data, dict):
        return Usage()
    cached = count(data.get("cache_read_input_tokens"))
    # Written to their cache is input all the same; their count of input leaves both out.
    written = count(data.get("cache_creation_input_tokens"))
    return Usage(
        input=count(data.get("input_tokens")) + cached + written,
        output=count(data.get("output_tokens")),
        cached=cached,
    )
