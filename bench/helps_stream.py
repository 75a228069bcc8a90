"""Streams of related tasks, played with the memory service and without it.

A stream has groups (projects, homes, conversations), each with tasks in an order and a scope of its
own. All groups go on at the same pace: at each stage every condition plays the same task with the
same seed, and only then is the memory told what the attached agent lived through. So no condition
ever sees anything of a task that is still to come, and what another group's memory holds, in the
control, has the same age.

Every episode is a line of a file. Whatever stopped a stream, it goes on from there: the memory is
made anew by telling it the same lines again.
"""

import json
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from metamem.core.access import Caller, Scope
from metamem.core.errors import MetamemError
from metamem.core.tokens import count_tokens
from metamem.core.types import Episode, Task
from metamem.service.service import MemoryService
from metamem.service.words import Ask, Draft, Recall, Recalled, Session, Turn

DAY = 86_400_000
BEGIN = 20_454 * DAY  # a stage is a day, from 2026-01-01 on
LONGEST_TURN = 600  # characters of an observation that are kept as evidence
OWN = ("attached", "fenced", "plain", "ways", "evidence")  # ways to ask one's own memory
CONTROLS = ("empty", "other", "alike")  # memories of others
ID = re.compile(r"(?<=recall=\"r)[0-9a-f]+(?=\")|(?<=, )[0-9a-f]{8}(?=\])")
PATIENCE = 60.0  # seconds for vectors to be made


@dataclass(frozen=True, slots=True)
class Lesson:
    """What an agent notes down after an episode. A key names what there is only one note of."""

    text: str
    type: str = "insight"
    key: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One episode: what it brought, what it cost, and what the memory is told of it."""

    group: str
    stage: int
    task: str
    kind: str
    condition: str
    reward: float
    steps: int
    advice: int  # tokens of what memory told
    read: int  # tokens that the agent read: advice and everything that the world showed
    lessons: tuple[Lesson, ...] = ()
    turns: tuple[tuple[str, str], ...] = ()  # (source, text)

    @property
    def key(self) -> tuple[str, str, str]:
        return self.group, self.task, self.condition

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Row":
        lessons = tuple(Lesson(**each) for each in data.pop("lessons"))
        turns = tuple((source, text) for source, text in data.pop("turns"))
        return Row(**data, lessons=lessons, turns=turns)


class Stream(Protocol):
    """Tasks of several groups, the agent that plays them, and what it notes down and asks."""

    name: str
    conditions: Sequence[str]
    learns: bool  # whether the memory is told of the episodes

    def groups(self) -> Sequence[str]: ...

    def tasks(self, group: str) -> Sequence[Task]: ...

    def whose(self, group: str, condition: str) -> str:
        """Another group, whose memory a control is given."""
        ...

    def history(self, group: str) -> Sequence[Session]:
        """What the memory is given before the first task."""
        ...

    async def play(self, task: Task, seed: int, advice: str) -> Episode: ...

    def lessons(self, task: Task, episode: Episode) -> Sequence[Lesson]: ...

    def asks(self, task: Task, condition: str) -> Sequence[Ask]:
        """The questions to memory, from what the agent is shown of its task."""
        ...

    def told(self, items: Sequence[Recalled]) -> str:
        """What was recalled, as this agent reads it."""
        ...

    def rival(self, group: str, task: Task, condition: str) -> str:
        """Advice that does not come from the service: an oracle's, or a plain search's."""
        ...


@dataclass(slots=True)
class Attached:
    """The service as one agent of each group has it: rights to its own group's scope alone."""

    service: MemoryService
    kind: str
    _notes: dict[tuple[str, str], str] = field(default_factory=dict)  # (group, key) → fact

    def open(self, group: str) -> None:
        self.service.make_scope(self._scope(group))

    def recall(self, group: str, ask: Ask) -> Recall:
        """An answer once all vectors are made, so that it depends on nothing but what was told."""
        memories, until = self.service.of(self._caller(group)), time.monotonic() + PATIENCE
        while True:
            found = memories.recall(ask)
            if not found.waiting and not found.notes:
                return found
            if not found.waiting and all("budget" in note for note in found.notes):
                return found
            if time.monotonic() > until:
                raise MetamemError(f"recall is not ready: {found.waiting} wait, {found.notes}")
            time.sleep(0.01)

    def ingest(self, group: str, session: Session) -> None:
        self.service.of(self._caller(group)).ingest(str(self._scope(group)), session)

    def learn(self, row: Row) -> None:
        """The episode as evidence, and what the agent noted down."""
        at = BEGIN + row.stage * DAY
        turns = tuple(
            Turn("agent" if source == "agent" else "world", text, source, at)
            for source, text in row.turns
        )
        self.ingest(row.group, Session(f"{row.group}-{row.stage}", turns, started_at=at))
        memories = self.service.of(self._caller(row.group))
        for lesson in row.lessons:
            older = self._notes.get((row.group, lesson.key), "") if lesson.key else ""
            draft = Draft(lesson.text, lesson.type, said_at=at, supersedes=older)
            (written,) = memories.remember(str(self._scope(row.group)), [draft])
            if written.outcome == "refused":
                raise MetamemError(f"refused: {written.reason}: {lesson.text}")
            if lesson.key:
                self._notes[row.group, lesson.key] = written.id

    def _scope(self, group: str) -> Scope:
        return Scope.of("bench", self.kind, group)

    def _caller(self, group: str) -> Caller:
        own = frozenset({self._scope(group)})
        return Caller("bench", f"agent of {group}", reads=own, writes=own)


async def run(stream: Stream, seed: int, path: Path) -> list[Row]:
    """All rows of a stream, those that the file holds already not played again."""
    done = {row.key: row for row in _read(path)}
    with TemporaryDirectory() as folder:
        service = MemoryService(Path(folder))
        memory = Attached(service, stream.name)
        try:
            await _played(stream, seed, memory, done, path)
        finally:
            service.close()
    return list(done.values())


async def _played(
    stream: Stream,
    seed: int,
    memory: Attached,
    done: dict[tuple[str, str, str], Row],
    path: Path,
) -> None:
    groups = stream.groups()
    for group in (*groups, _nobody(stream)):
        memory.open(group)
    for group in groups:
        for session in stream.history(group):
            memory.ingest(group, session)
    with path.open("a", encoding="utf-8") as file:
        for stage in range(max(len(stream.tasks(group)) for group in groups)):
            due = [(g, stream.tasks(g)[stage]) for g in groups if stage < len(stream.tasks(g))]
            for group, task in due:
                for condition in stream.conditions:
                    if (group, task.id, condition) in done:
                        # Statistics of an index count what was there when it was last asked.
                        _advice(stream, memory, group, task, stage, condition)
                    else:
                        row = await _row(stream, seed, memory, group, task, stage, condition)
                        done[row.key] = row
                        file.write(json.dumps(asdict(row)) + "\n")
                        file.flush()
            for group, task in due if stream.learns else ():
                memory.learn(done[group, task.id, "attached"])


async def _row(
    stream: Stream,
    seed: int,
    memory: Attached,
    group: str,
    task: Task,
    stage: int,
    condition: str,
) -> Row:
    advice = _advice(stream, memory, group, task, stage, condition)
    episode = await stream.play(task, seed, advice)
    learns = stream.learns and condition == "attached"
    told = count_tokens(advice)
    shown = sum(count_tokens(step.observation) for step in episode.steps)
    return Row(
        group,
        stage,
        task.id,
        task.kind,
        condition,
        episode.reward,
        len(episode.steps),
        told,
        told + count_tokens(episode.observation) + shown,
        tuple(stream.lessons(task, episode)) if learns else (),
        _turns(episode) if learns else (),
    )


def _advice(
    stream: Stream, memory: Attached, group: str, task: Task, stage: int, condition: str
) -> str:
    advice = ""
    if condition in (*OWN, *CONTROLS):
        whose = group
        if condition in CONTROLS:
            whose = _nobody(stream) if condition == "empty" else stream.whose(group, condition)
        now = BEGIN + stage * DAY
        asks = [replace(ask, now=ask.now or now) for ask in stream.asks(task, condition)]
        answers = [memory.recall(whose, ask) for ask in asks]
        found = {item.fact.id: item for answer in answers for item in answer.items}
        advice = stream.told(list(found.values()))
        if condition == "fenced":
            advice = "\n".join(_same_ids(answer.text) for answer in answers if answer.text)
    elif condition != "none":
        advice = stream.rival(group, task, condition)
    return advice


def _same_ids(text: str) -> str:
    """Ids are drawn by chance; what an agent does must not depend on them."""
    return ID.sub(lambda found: "f" * len(found[0]), text)


def _turns(episode: Episode) -> tuple[tuple[str, str], ...]:
    turns = [("user", episode.goal), ("tool", episode.observation)]
    for step in episode.steps:
        turns += [("agent", step.action), ("tool", step.observation)]
    return tuple((source, text[:LONGEST_TURN]) for source, text in turns if text.strip())


def _nobody(stream: Stream) -> str:
    return f"nobody's {stream.name}"


def _read(path: Path) -> list[Row]:
    """Rows of a file; a last line that was cut off is taken out of it."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole, encoding="utf-8")
    return [Row.from_json(json.loads(line)) for line in whole.splitlines()]
