"""A draft is tried as the verifier would try it, and then looked at more closely.

Nothing is entered into the archive but calls of models, where the run has any: those cost money.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

from metamem.core.errors import UsageError
from metamem.core.types import Design, Episode, Evaluation
from metamem.designs.jailed import CpuUse
from metamem.designs.limits import Limits
from metamem.evaluation.evaluator import Evaluator, Records
from metamem.evaluation.jobs import CaseDone, Spec
from metamem.models.allowance import Allowance
from metamem.runs.config import LearnConfig
from metamem.runs.opening import staged
from metamem.search.novelty import behaviours
from metamem.search.verifier import EXPERIENCES, TASKS
from metamem.store.archive import Archive, RunRecord

ONE = Spec("local", {"workers": 1})
SLOW = "it slept, or took more than {:g} s of real time, in one call"

T = TypeVar("T")


class _AsCollected:
    """All that trying reads of an archive; it can neither write nor have anything played."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def collection(self, collection_id: str) -> list[Episode]:
        return _there(self._archive.collection(collection_id))

    def blob(self, blob_id: str) -> bytes:
        return _there(self._archive.blob(blob_id))


def _there(found: T | None) -> T:
    if found is None:
        raise UsageError(
            "the run has not collected its experiences yet, so nothing can be tried on them",
            hint="wait for its first request",
        )
    return found


class Trial:
    """What can be found out about a design without entering it anywhere."""

    def __init__(self, evaluator: Evaluator, limits: Limits) -> None:
        self._evaluator, self._limits = evaluator, limits
        self.kinds = {t.id: t.kind for t in evaluator.plan("train").deployment}

    async def failure(self, design: Design) -> str:
        """What goes wrong when the verifier runs it; empty where nothing does."""
        return (await self._evaluator.verify(design, EXPERIENCES, TASKS)).error

    async def look(
        self, design: Design, tasks: Sequence[str], known: Mapping[str, Evaluation]
    ) -> dict[str, Any]:
        """What it says on some tasks after all experiences, what it logs and what time it takes."""
        said: list[CaseDone] = []
        every = list(self.kinds)
        done = await self._evaluator.advice(
            design, tasks, every, behaviours(known, every), said.append
        )
        error = done.error or (SLOW.format(self._limits.wall) if done.wall_stops else "")
        return {
            "error": error,
            "same_as": done.same_as,
            "advice": [self._advice(each) for each in said if not each.row.failure],
            "logs": list(done.logs),
            "cpu": self._cpu(done.cpu),
        }

    async def play(self, design: Design, tasks: Sequence[str]) -> list[CaseDone]:
        played: list[CaseDone] = []
        done = await self._evaluator.play(design, tasks, played.append)
        if done.wall_stops:
            raise UsageError(f"no score: {SLOW.format(self._limits.wall)}")
        return sorted(played, key=lambda done: tasks.index(done.row.task_id))

    def _advice(self, done: CaseDone) -> dict[str, Any]:
        assert done.episode is not None
        return {
            "task": done.row.task_id,
            "kind": self.kinds[done.row.task_id],
            "goal": done.episode.goal,
            "tokens": done.row.advice_tokens,
            "cut": done.row.advice_truncated,
            "text": "\n".join(advice.text for advice in done.episode.advice),
        }

    def _cpu(self, used: CpuUse) -> dict[str, Any]:
        limits = {"update": self._limits.update_cpu, "retrieve": self._limits.retrieve_cpu}
        return {
            operation: {
                "most": round(used.most[operation], 4),
                "mean": round(used.total[operation] / calls, 4),
                "calls": calls,
                "limit": limits[operation],
            }
            for operation, calls in used.calls.items()
            if operation in limits
        }


@asynccontextmanager
async def trying(
    archive: Archive, run: RunRecord, allowance: Allowance | None = None
) -> AsyncIterator[Trial]:
    """A trial under the conditions of a run."""
    reading, config = _AsCollected(archive), LearnConfig.from_json(run.config)
    async with staged(archive, ONE, config, run_id=run.id, allowance=allowance) as stage:
        evaluator = stage.evaluator(archive=cast(Records, reading))
        yield Trial(evaluator, Limits(**config.limits))
