"""Questions about long conversations: their sessions are given to the memory, then each is asked.

The reply is what was recalled, word for word, and its first tokens are scored by rules. Beside the
service stands SQLite's own full-text search over the same lines, shown in the same form.
"""

import re
import sqlite3
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Any

from bench.helps_stream import Lesson
from metamem.agents.relay import Relay
from metamem.core.episode import play
from metamem.core.protocols import Seat
from metamem.core.tokens import count_tokens
from metamem.core.types import Episode, Message, Task
from metamem.domains.dialogue.domain import DialogueDomain
from metamem.service.words import Ask, Recalled, Session, Turn

BUDGET = 200  # tokens of a reply that count
WORD = re.compile(r"\w+")


class Talks:
    """The agent hands on what it is told; without a memory it has nothing to say."""

    name = "talks"
    conditions: Sequence[str] = ("none", "empty", "attached", "fenced", "fts5", "other", "oracle")
    learns = False  # a question adds nothing to what was said

    def __init__(
        self,
        split: str,
        conversations: int,
        *,
        data: str = "generated",
        without: Collection[str] = (),
        limit: int = 3,
        rival_limit: int = 8,
    ) -> None:
        """`without` names conversations that the service's own ranker may have been trained on."""
        self._without = frozenset(without)
        self._split, self._limit, self._rival_limit = split, limit, rival_limit
        sizes: dict[str, Any] = {split: conversations}
        self._domain = DialogueDomain(data=data, budget=BUDGET, **sizes)
        self._agent = Relay()
        self._searched = lru_cache(maxsize=None)(self._search_of)

    @cached_property
    def _streams(self) -> dict[str, list[Task]]:
        found: dict[str, list[Task]] = {}
        for task in self._domain.tasks(self._split):
            if task.group not in self._without:
                found.setdefault(task.group, []).append(task)
        return found

    def groups(self) -> Sequence[str]:
        return list(self._streams)

    def tasks(self, group: str) -> Sequence[Task]:
        return self._streams[group]

    def whose(self, group: str, condition: str) -> str:
        groups = self.groups()
        return groups[(groups.index(group) + 1) % len(groups)]

    def history(self, group: str) -> Sequence[Session]:
        days: dict[str, list[Message]] = {}
        for message in self._messages(group):
            days.setdefault(message.time, []).append(message)
        return [
            Session(day, tuple(Turn(m.speaker, m.text, said_at=_moment(day)) for m in messages))
            for day, messages in days.items()
        ]

    async def play(self, task: Task, seed: int, advice: str) -> Episode:
        player = self._agent.start(Seat(task.goal, seed))
        player.advise(advice)
        world = self._domain.world(task, seed)
        return await play(task, world, player, None, max_steps=1, advice_tokens=0)

    def lessons(self, task: Task, episode: Episode) -> Sequence[Lesson]:
        return ()

    def asks(self, task: Task, condition: str) -> Sequence[Ask]:
        now = _moment(task.data["question"].date)
        return [Ask(task.goal, limit=self._limit, tokens=2000, now=now)]

    def told(self, items: Sequence[Recalled]) -> str:
        return _within([_line(_day(i.fact.said_at), i.fact.author, i.fact.text) for i in items])

    def rival(self, group: str, task: Task, condition: str) -> str:
        if condition == "oracle":
            return self._domain.oracle(task)
        words = " OR ".join(f'"{word}"' for word in WORD.findall(task.goal))
        rows = self._searched(group).execute(
            "SELECT day, speaker, text FROM lines WHERE lines MATCH ? ORDER BY rank LIMIT ?",
            (words, self._rival_limit),
        )
        return _within([_line(*row) for row in rows])

    def whole(self, group: str) -> int:
        """Tokens of a conversation, for one who would read all of it for every question."""
        lines = (_line(m.time, m.speaker, m.text) for m in self._messages(group))
        return sum(map(count_tokens, lines))

    def _messages(self, group: str) -> list[Message]:
        return [message for batch in self._domain.history(group) for message in batch.messages]

    def _search_of(self, group: str) -> sqlite3.Connection:
        index = sqlite3.connect(":memory:")
        index.execute("CREATE VIRTUAL TABLE lines USING fts5(day UNINDEXED, speaker, text)")
        lines = [(m.time, m.speaker, m.text) for m in self._messages(group)]
        index.executemany("INSERT INTO lines VALUES (?, ?, ?)", lines)
        return index


def _within(lines: Sequence[str]) -> str:
    """As many whole lines, from the first on, as the budget holds."""
    kept: list[str] = []
    for line in lines:
        if count_tokens("\n".join([*kept, line])) > BUDGET:
            break
        kept.append(line)
    return "\n".join(kept)


def _line(day: str, speaker: str, text: str) -> str:
    return f"{day}, {speaker}: {text}"


def _moment(day: str) -> int:
    return int(datetime.strptime(day, "%d %B %Y").replace(tzinfo=UTC).timestamp() * 1000)


def _day(at: int) -> str:
    when = datetime.fromtimestamp(at / 1000, UTC)
    return f"{when.day} {when:%B %Y}"
