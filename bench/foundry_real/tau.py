"""Recorded dialogues of an agent with tools (tau-bench) as traces.

Calls are structured; an answer that begins with `Error` is a failure. The reward of the whole dialogue says
whether it ended well. Ids of calls are not always one in a dialogue, so places stand for them.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from metamem.foundry.words import Outcome, Trace, Use

SCOPE = "real/project/tau-airline"
SURE = 0.95  # the state of the database at the end was compared


def read_traces(path: Path) -> list[Trace]:
    """The dialogues of a file, in its order."""
    return [_trace(one) for one in json.loads(path.read_text())]


def _trace(given: Mapping[str, Any]) -> Trace:
    messages: Sequence[Mapping[str, Any]] = given["traj"]
    prompts: dict[str, str] = {}
    uses: list[Use] = []
    for at, message in enumerate(messages):
        if message["role"] == "user":
            prompts[f"p{len(prompts)}"] = message["content"] or ""
        for call in message.get("tool_calls") or ():
            answer = _answer(messages, at + 1, call["id"])
            failed = answer is not None and answer.startswith("Error")
            uses.append(
                Use(
                    f"u{len(uses)}",
                    call["function"]["name"],
                    _arguments(call["function"]["arguments"]),
                    "" if failed or answer is None else answer,
                    answer or "" if failed else "",
                    failed=None if answer is None else failed,
                    prompt=f"p{len(prompts) - 1}" if prompts else "",
                    group=f"g{at}" if len(message["tool_calls"]) > 1 else "",
                )
            )
    return Trace(
        SCOPE,
        "tau-bench",
        f"task{given['task_id']}-trial{given['trial']}",
        tuple(uses),
        prompts,
        Outcome("tests", given["reward"] == 1.0, SURE),
    )


def _answer(messages: Sequence[Mapping[str, Any]], start: int, call: str) -> str | None:
    """What came back of a call: the first answer after it."""
    for message in messages[start:]:
        if message["role"] == "tool" and message["tool_call_id"] == call:
            return str(message["content"])
        if message["role"] == "assistant":
            return None
    return None


def _arguments(given: str) -> dict[str, Any]:
    try:
        arguments = json.loads(given)
    except ValueError:
        return {"arguments": given}
    return arguments if isinstance(arguments, dict) else {"arguments": arguments}
