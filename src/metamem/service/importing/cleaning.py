"""What is a secret anywhere in a session is taken out everywhere in it, before any of it is kept."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace

from metamem.service.importing.transcript import Call, Transcript
from metamem.service.words import ToolCall
from metamem.service.writing.known import KnownSecrets


def learn(known: KnownSecrets, transcript: Transcript) -> None:
    """Remember what is recognised as a secret anywhere in a transcript."""
    for line in transcript.lines:
        known.learn(line.text)
    for call in transcript.calls:
        known.learn(json.dumps(call.arguments, ensure_ascii=False))
        for text in (*_strings(call.arguments), call.result or "", call.error):
            known.learn(text)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _strings(each)


def without(secrets: KnownSecrets, transcript: Transcript) -> Transcript:
    """A transcript without the secrets that are known."""
    lines = tuple(replace(line, text=secrets.out_of(line.text)) for line in transcript.lines)
    calls = tuple(
        replace(
            call,
            arguments=secrets.out_of_all(call.arguments),
            result=None if call.result is None else secrets.out_of(call.result),
            error=secrets.out_of(call.error),
        )
        for call in transcript.calls
    )
    title = secrets.out_of(transcript.title)
    return replace(transcript, lines=lines, calls=calls, title=title)


def tool_call(call: Call) -> ToolCall:
    """A call as the service takes it."""
    return ToolCall(**{field.name: getattr(call, field.name) for field in fields(ToolCall)})
