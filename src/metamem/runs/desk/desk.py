"""What whoever writes designs may do: ask for the next request, try a draft, hand it in, and look
where the run stands. The command line and MCP are thin layers on this.
"""

import asyncio
import re
import time
from dataclasses import dataclass
from random import Random
from typing import Any

from metamem.core.aside import aside
from metamem.core.errors import DataError, UsageError
from metamem.core.ids import derive_seed, short
from metamem.core.types import Design, Evaluation
from metamem.evaluation.jobs import CaseDone
from metamem.evaluation.racing import complete_estimate
from metamem.models.allowance import Allowance
from metamem.runs.desk.standing import PENDING, Standing, paired
from metamem.runs.desk.trial import Trial, trying
from metamem.search.entries import shown_episode
from metamem.search.episodes import by_kind
from metamem.search.handoff import files
from metamem.search.handoff.documents import transcript
from metamem.search.handoff.place import DESIGN, Task
from metamem.search.handoff.submission import (
    SOURCE_BYTES,
    Submission,
    checked_note,
    checked_source,
    parsed_key,
)
from metamem.search.score import Score

POLL_SECONDS = 0.5
TEXT_BYTES = 4_000_000
ADVISED = 3  # tasks whose advice a check shows
CHECKED = "check"  # the folder of a quick score's transcripts
_DOCUMENT = re.compile(
    rf"[a-z]+\.md|(?:parent|own|failed|design)\.py|(?:episodes|{CHECKED})/[\w-]+\.txt", re.ASCII
)


@dataclass
class Desk(Standing):
    """The requests of one run and what came of their answers."""

    allowance: Allowance | None = None  # what trying a draft may cost in models

    # --- what is asked -----------------------------------------------------------------------

    async def next(self, wait: float) -> dict[str, Any]:
        """The oldest request that waits for an answer; none within `wait` seconds: `number` null."""
        end = time.monotonic() + wait
        while not (waiting := self.place.waiting()):
            if time.monotonic() >= end or not await aside(self.goes_on):
                why = await aside(self.why_nothing)
                return {"run": self.run, "number": None, "message": why}
            await asyncio.sleep(POLL_SECONDS)
        task = self.place.task(waiting[0])
        return {
            "run": self.run,
            "number": task.number,
            "folder": str(self.place.folder(task.number).absolute()),
            "documents": self.documents(task.number),
            "parent": task.parent,
            "repair": {"design": task.failed, "error": task.error} if task.failed else None,
            "copied": task.copied or None,
            "refused": self.place.refusal(task.number) or None,
            "message": self._ask_words(task),
        }

    def _ask_words(self, task: Task) -> str:
        words = ["Write one design, check it, submit it."]
        if task.failed:
            words.append("It repairs failed.py, which did not run.")
        if task.copied:
            words.append("The last answer was a copy of a known design: this must be another.")
        if not self.works():
            words.append("No process works on the run now; what you submit is kept for later.")
        return " ".join(words)

    def source(self, number: int) -> bytes:
        """The draft in a request's folder."""
        self.place.task(number)  # there is such a request
        found = files.read(self.place.folder(number), DESIGN, SOURCE_BYTES)
        if found is None:
            raise UsageError(f"request {number} has no {DESIGN} yet")
        return found

    def keep_draft(self, number: int, given: str | bytes) -> None:
        """Put a draft where `source` finds it."""
        self.place.task(number)
        files.put(self.place.folder(number), DESIGN, checked_source(given).encode())

    def documents(self, number: int) -> list[str]:
        """The names of what can be read of a request."""
        self.place.task(number)
        folder = self.place.folder(number)
        names = (str(path.relative_to(folder)) for path in folder.glob("**/*") if path.is_file())
        return sorted(name for name in names if _DOCUMENT.fullmatch(name))

    def document(self, number: int, name: str) -> str:
        """A text of a request, as it is there now."""
        self.place.task(number)
        found = None
        if _DOCUMENT.fullmatch(name):
            found = files.read(self.place.folder(number), name, TEXT_BYTES)
        if found is None:
            known = ", ".join(self.documents(number))
            raise UsageError(f"request {number} has no document {name!r}", hint=f"it has: {known}")
        return found.decode(errors="replace")

    # --- what is answered --------------------------------------------------------------------

    async def check(self, number: int, given: str | bytes, score_on: int = 0) -> dict[str, Any]:
        """Would it pass the verifier, what does it say, and is it new?

        With `score_on`, how well it does on so many tasks. No design is entered anywhere.
        """
        task, source = self.place.task(number), checked_source(given)
        found: dict[str, Any] = {
            "run": self.run,
            "number": number,
            "passed": False,
            "error": "",
            "advice": [],
            "logs": [],
            "cpu": {},
            "score": None,
        }
        try:
            error = await aside(self._twin, task, source)
        except DataError as wrong:
            error = wrong.message
        if error:
            return found | {"error": error}
        if score_on:
            await aside(self._require, task, score_on)
        design, record = Design(source), await aside(self.archive.run, self.run)
        async with trying(self.archive, record, self.allowance) as trial:
            if error := await trial.failure(design):
                return found | {"error": error}
            found |= await self._look(task, trial, design)
            if not found["error"] and score_on:
                found["score"] = await self._score(task, trial, design, score_on)
        return found | {"passed": not found["error"]}

    def _require(self, task: Task, score_on: int) -> None:
        """Refuse a score that the run has no cases left for."""
        self.quick().require(min(score_on, len(self.rewards(task.parent)) or score_on))

    async def _look(self, task: Task, trial: Trial, design: Design) -> dict[str, Any]:
        rewards = await aside(self.rewards, task.parent)
        luck = Random(derive_seed("look", task.request))
        tasks = by_kind(trial.kinds, trial.kinds, luck, lambda t: rewards.get(t, 1.0))[:ADVISED]
        seen = await trial.look(design, tasks, await aside(self._evaluations))
        if twin := seen.pop("same_as"):
            every = len(trial.kinds)
            seen["error"] = f"it gives the same advice as {short(twin)} on all {every} tasks"
        return seen

    async def _score(self, task: Task, trial: Trial, design: Design, count: int) -> dict[str, Any]:
        """On tasks that the parent played, chosen by chance: others for each request."""
        parents = await aside(self.rewards, task.parent)
        luck = Random(derive_seed("quick", task.request))
        tasks = by_kind(parents or trial.kinds, trial.kinds, luck)[:count]
        await aside(self._take, len(tasks))
        played = await trial.play(design, tasks)
        ours = {done.row.task_id: done.row.reward for done in played}
        theirs = {t: parents[t] for t in tasks if t in parents}
        mean = Score.of_estimate(complete_estimate(ours), len(trial.kinds))
        parent = Score.of_estimate(complete_estimate(theirs), len(trial.kinds)) if theirs else None
        return {
            "mean": mean.to_json(),
            "parent": parent.to_json() if parent else None,
            **paired(ours, theirs),
            "failures": sum(bool(done.row.failure) for done in played),
            "tasks": self._transcripts(task, trial, played, theirs),
            "quick_cases_left": await aside(self._left),
        }

    def _take(self, cases: int) -> None:
        self.quick().take(cases)

    def _left(self) -> int:
        return self.quick().left

    def _transcripts(
        self, task: Task, trial: Trial, played: list[CaseDone], parents: dict[str, float]
    ) -> list[dict[str, Any]]:
        """One file for each task that was played; what got worse comes first."""

        def gain(done: CaseDone) -> float:
            return done.row.reward - parents.get(done.row.task_id, done.row.reward)

        texts, told = {}, []
        for number, done in enumerate(sorted(played, key=lambda d: (gain(d), d.row.reward)), 1):
            row = done.row
            assert done.episode is not None
            name = f"{number:02d}.txt"
            kind, theirs = trial.kinds[row.task_id], parents.get(row.task_id)
            episode = shown_episode(done.episode, kind, theirs or 0.0, None)
            shown = transcript(episode, "the parent" if theirs is not None else "no parent")
            failed = f"\n=== The design failed\n{row.failure}\n" if row.failure else ""
            texts[name] = (shown + failed).encode("utf-8", "backslashreplace")
            told.append(
                {
                    "task": row.task_id,
                    "kind": kind,
                    "reward": row.reward,
                    "parent": theirs,
                    "transcript": f"{CHECKED}/{name}",
                }
            )
        files.make_folder(self.place.folder(task.number) / CHECKED, texts)
        return told

    async def submit(
        self, number: int, given: str | bytes, note: str, wait: float
    ) -> dict[str, Any]:
        """Hand in, and wait for what comes of it. Known copies and what is no Python are refused."""
        task, source = self.place.task(number), checked_source(given)
        if twin := await aside(self._twin, task, source):
            raise UsageError(f"not submitted: {twin}")
        submission = Submission(task.request, source, checked_note(note))
        if number not in self.place.open() or not self.place.submit(number, submission):
            waiting = ", ".join(map(str, self.place.waiting())) or "none"
            raise UsageError(
                f"request {number} does not wait for an answer (any more)",
                hint=f"requests that wait: {waiting}",
            )
        end = time.monotonic() + wait
        while (outcome := await aside(self.outcome, number, submission))["status"] == PENDING:
            if time.monotonic() >= end or not await aside(self.goes_on):
                break
            await asyncio.sleep(POLL_SECONDS)
        return outcome

    def _twin(self, task: Task, source: str) -> str:
        """Says so where the code is known already, in words; empty where it is new."""
        key = parsed_key(source)
        if Design(source).id == task.failed:
            return "this is the design that failed, with nothing changed"
        for record in self.journal():
            if record.design_id and _key(self.archive.design(record.design_id).source) == key:
                return f"this is the same code as the design {short(record.design_id)} of this run"
        return ""

    def _evaluations(self) -> dict[str, Evaluation]:
        """Of all designs of the run that were evaluated."""
        found = {}
        for record in self.journal():
            if record.design_id is not None and record.evaluation_id is not None:
                evaluation = self.archive.evaluation(record.evaluation_id)
                if evaluation is not None:
                    found[record.design_id] = evaluation
        return found


def _key(source: str) -> str | None:
    try:
        return parsed_key(source)
    except DataError:
        return None
