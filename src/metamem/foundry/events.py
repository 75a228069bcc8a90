"""A session as it is kept, told as the events that hooks tell: the same types, the same ids of calls.

What is known here and by no hook is how it ended (`outcomes`).
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from metamem.foundry.words import Trace, Use
from metamem.service.attach.events import (
    Event,
    PromptGiven,
    SessionEnded,
    SessionStarted,
    ToolBegun,
    ToolEnded,
)


def events_of(trace: Trace) -> Iterator[Event]:
    """All of a session in its order. Calls that were begun at once begin before any of them ends."""
    folder = trace.snapshot.folder if trace.snapshot is not None else ""
    about: dict[str, Any] = {"host": trace.host, "session": trace.session, "folder": folder}
    yield SessionStarted(**about, at=trace.started_at)
    waiting = list(trace.prompts.items())
    for uses in _at_once(trace.uses):
        served = [n for n, (prompt, _) in enumerate(waiting) if prompt == uses[0].prompt]
        for _, text in waiting[: served[0] + 1] if served else ():
            yield PromptGiven(**about, prompt=text)
        waiting = waiting[served[0] + 1 :] if served else waiting
        calls = [
            {
                **about,
                "agent": use.agent,
                "at": use.at,
                "call": use.id,
                "tool": use.tool,
                "arguments": use.arguments,
            }
            for use in uses
        ]
        for call in calls:
            yield ToolBegun(**call)
        for use, call in zip(uses, calls, strict=True):
            yield ToolEnded(
                **call,
                result=use.result,
                error=use.error,
                failed=use.failed,
                exit_code=use.exit_code,
                milliseconds=use.milliseconds,
            )
    for _, text in waiting:
        yield PromptGiven(**about, prompt=text)
    ended = trace.outcome
    yield SessionEnded(
        **about,
        at=trace.ended_at,
        by=ended.by,
        success=ended.success,
        confidence=ended.confidence,
    )


def _at_once(uses: Sequence[Use]) -> Iterator[list[Use]]:
    for _, together in groupby(enumerate(uses), lambda one: one[1].group or one[0]):
        yield [use for _, use in together]
