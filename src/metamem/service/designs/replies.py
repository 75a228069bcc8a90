"""What a model said to the designs of scopes: with the log, their states can be made again for nothing.

It is kept by scope, and found by whoever asks for that scope alone. What it was asked is not kept: that
follows from the log. It goes with the experiences that it was made of.
"""

import json
from dataclasses import dataclass

from metamem.core.chat import Question, Reply, Site
from metamem.core.errors import ModelRefused
from metamem.service.erasing_rows import DROPPED
from metamem.store.engine import Execute

RETRIEVE = "retrieve"  # the phase of retrievals, which leave no trace in a state


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a scope's design, and what the scope was when it was made."""

    scope: int
    erasures: int  # that had been by then
    site: Site
    question: Question
    key: str

    @property
    def retrieves(self) -> bool:
        return self.site.phase == RETRIEVE


@dataclass(frozen=True, slots=True)
class Told:
    """What the design was told: a reply, or why there is none that will do."""

    reply: Reply | None = None
    refusal: str = ""

    def given(self) -> Reply:
        if self.reply is None:
            raise ModelRefused(self.refusal)
        return self.reply


def kept(execute: Execute, asked: Asked) -> Told | None:
    rows = execute(
        "SELECT body FROM model_replies WHERE scope = ? AND key = ?", (asked.scope, asked.key)
    )
    if not rows:
        return None
    body = json.loads(rows[0][0])
    if "refusal" in body:
        return Told(refusal=body["refusal"])
    return Told(Reply(body["text"], body["value"]))


def keep(execute: Execute, asked: Asked, told: Told) -> None:
    """Enter it, unless something of the scope was erased since the question was made: it may hold
    that. Of retrievals those at the latest position are kept: no other can be asked again."""
    rows = execute("SELECT generation FROM scopes WHERE number = ?", (asked.scope,))
    if rows[0][0] // DROPPED != asked.erasures:
        return
    if told.reply is None:
        body = {"refusal": told.refusal}
    else:
        body = {"text": told.reply.text, "value": told.reply.value}
    site = asked.site
    execute(
        "INSERT INTO model_replies (scope, key, design, position, retrieval, body)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (scope, key) DO NOTHING",
        (
            asked.scope,
            asked.key,
            site.design,
            site.repeat,
            int(asked.retrieves),
            json.dumps(body),  # in the order of the reply: a design may go by it
        ),
    )
    if asked.retrieves:
        execute(
            "DELETE FROM model_replies"
            " WHERE scope = ? AND design = ? AND retrieval = 1 AND position < ?",
            (asked.scope, site.design, site.repeat),
        )


def forget(execute: Execute, scope: int, first: int | None) -> int:
    """Erase what was said from the experience at a position on (none: to no experience), and all that
    was said in retrievals; how many it were."""
    learned = "position > ?" if first is not None else "1 = 0"
    values = (scope,) if first is None else (scope, first)
    gone = execute(
        f"DELETE FROM model_replies WHERE scope = ? AND (retrieval = 1 OR {learned}) RETURNING 1",
        values,
    )
    return len(gone)
