"""Coding over time within one project: bugs of six projects, mended one after the other."""

import json
import re
from collections.abc import Sequence
from functools import cached_property

from bench.helps_stream import Lesson
from metamem.agents.repair import Repair
from metamem.core.episode import play
from metamem.core.protocols import Seat
from metamem.core.types import Episode, Task
from metamem.domains.coding import projects
from metamem.domains.coding.domain import CodingDomain
from metamem.domains.coding.tasks import changed_lines
from metamem.service.words import Ask, Recalled, Session

FAILED = re.compile(r"^FAILED (\S+)", re.MULTILINE)
ISSUE = 240  # characters of an issue that a note repeats


class Coding:
    """The agent tries small changes; what mended one bug of a project may be alike in the next."""

    name = "coding"
    conditions: Sequence[str] = (
        "none",
        "empty",
        "attached",
        "evidence",
        "other",
        "hindsight",
        "oracle",
    )
    learns = True

    def __init__(
        self,
        splits: Sequence[str],
        most: int,
        cache: str,
        *,
        merged: bool = False,
        limit: int = 20,
        tokens: int = 3000,
    ) -> None:
        """`merged`: what the agent could not mend somebody else does afterwards, and it is told."""
        self._splits, self._most, self._merged = splits, most, merged
        self._limit, self._tokens = limit, tokens
        self._domain = CodingDomain(cache=cache)
        self._agent = Repair()

    @cached_property
    def _streams(self) -> dict[str, list[Task]]:
        found: dict[str, list[Task]] = {}
        for split in self._splits:
            bugs, tasks = projects.bugs(split), self._domain.tasks(split)
            for bug, task in zip(bugs, tasks, strict=True):
                found.setdefault(bug.project, []).append(task)
        return {project: tasks[: self._most] for project, tasks in found.items()}

    def groups(self) -> Sequence[str]:
        return sorted(self._streams)

    def tasks(self, group: str) -> Sequence[Task]:
        return self._streams[group]

    def whose(self, group: str, condition: str) -> str:
        groups = self.groups()
        return groups[(groups.index(group) + 1) % len(groups)]

    def history(self, group: str) -> Sequence[Session]:
        return ()

    async def play(self, task: Task, seed: int, advice: str) -> Episode:
        player = self._agent.start(Seat(task.goal, seed))
        if advice:
            player.advise(advice)
        world = self._domain.world(task, seed)
        try:
            return await play(
                task, world, player, None, max_steps=self._domain.max_steps, advice_tokens=0
            )
        finally:
            world.close()

    def lessons(self, task: Task, episode: Episode) -> Sequence[Lesson]:
        """What failed, and the change that mended it as the agent itself made it."""
        failed = FAILED.findall(episode.steps[0].observation) if episode.steps else []
        issue = " ".join(task.goal.split())[:ISSUE]
        head = f"Issue: {issue}\nFailed: {', '.join(failed[:3])}"
        own = _last_edit(episode)
        if episode.reward == 1 and own is not None:
            return [Lesson(f"{head}\nMended by {_shown(**own)}: all tests pass.")]
        notes = [Lesson(f"{head}\nNone of the changes that were tried mended it.", "error")]
        if self._merged:
            notes.append(Lesson(f"{head}\nMended by {self._repair(task)}: all tests pass."))
        return notes

    def asks(self, task: Task, condition: str) -> Sequence[Ask]:
        if condition == "evidence":
            return [Ask(task.goal, limit=self._limit, tokens=self._tokens, types=("turn",))]
        return [
            Ask(task.goal, limit=self._limit, tokens=self._tokens, types=("insight",), floor=0.0)
        ]

    def told(self, items: Sequence[Recalled]) -> str:
        return "\n\n".join(item.fact.text for item in items)

    def rival(self, group: str, task: Task, condition: str) -> str:
        if condition == "oracle":
            return self._domain.oracle(task)
        rest = (self._repair(other) for other in self.tasks(group) if other.id != task.id)
        return "\n\n".join(f"Mended by {repair}: all tests pass." for repair in rest)

    def _repair(self, task: Task) -> str:
        """The change that was merged in the end, in the form in which agents make theirs."""
        return " and ".join(
            _shown(path, "\n".join(old), "\n".join(new))
            for path, text in sorted(task.data["fix"].items())
            for _, old, new in changed_lines(task.data["files"][path], text)
        )


def _shown(path: str, find: str, replace: str) -> str:
    return json.dumps({"path": path, "find": find, "replace": replace})


def _last_edit(episode: Episode) -> dict[str, str] | None:
    """The change that stood when the agent submitted."""
    found = None
    for step in episode.steps:
        action = json.loads(step.action)
        if action["action"] == "undo":
            found = None
        elif action["action"] == "edit_file" and not step.observation.startswith("Error"):
            found = {part: action[part] for part in ("path", "find", "replace")}
    return found
