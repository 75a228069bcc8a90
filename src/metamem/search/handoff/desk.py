"""What whoever writes designs may do: ask for the next request, try a draft, hand it in, and look
where the run stands. The command line and MCP are thin layers on this.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from metamem.core.errors import DataError, MetamemError, UnknownName, UsageError
from metamem.core.ids import short
from metamem.core.types import Design
from metamem.search.handoff import files
from metamem.search.handoff.alive import seen
from metamem.search.handoff.place import DESIGN, Place, Task
from metamem.search.handoff.submission import (
    SOURCE_BYTES,
    Submission,
    checked_note,
    checked_source,
    parsed_key,
)
from metamem.search.handoff.trial import Models, failure, no_models
from metamem.search.loop import HUMAN
from metamem.store.archive import Archive, ProposalRecord, RunRecord

POLL_SECONDS = 0.5
TEXT_BYTES = 4_000_000
SHOWN = 5  # outcomes in a status
PENDING = "pending"


@dataclass
class Desk:
    """The requests of one run and what came of their answers."""

    archive: Archive
    place: Place
    run: str
    models: Models = no_models  # the way to the models of the run
    here: bool = False  # whether this very process carries out the run
    problem: str = ""  # why it could not

    # --- what is asked -----------------------------------------------------------------------

    async def next(self, wait: float) -> dict[str, Any]:
        """The oldest request that waits for an answer; none within `wait` seconds: `number` null."""
        end = time.monotonic() + wait
        while not (waiting := self.place.waiting()):
            if time.monotonic() >= end or not self._goes_on():
                return {"run": self.run, "number": None, "message": self._why_nothing()}
            await asyncio.sleep(POLL_SECONDS)
        task = self.place.task(waiting[0])
        return {
            "run": self.run,
            "number": task.number,
            "folder": str(self.place.folder(task.number).absolute()),
            "parent": task.parent,
            "repair": {"design": task.failed, "error": task.error} if task.failed else None,
            "copied": task.copied or None,
            "refused": self.place.refusal(task.number) or None,
            "message": self._ask_words(task),
        }

    def _ask_words(self, task: Task) -> str:
        words = ["Write one design to design.py in the folder, check it, submit it."]
        if task.failed:
            words.append("It repairs failed.py, which did not run.")
        if task.copied:
            words.append("The last answer was a copy of a known design: this must be another.")
        if not self._works():
            words.append("No process works on the run now; what you submit is kept for later.")
        return " ".join(words)

    def source(self, number: int) -> bytes:
        """The draft in a request's folder."""
        self.place.task(number)  # there is such a request
        found = files.read(self.place.folder(number), DESIGN, SOURCE_BYTES)
        if found is None:
            raise UsageError(f"there is no {DESIGN} in the folder of request {number}")
        return found

    def document(self, number: int, name: str) -> str:
        """A text in a request's folder, as it is there now."""
        found = files.read(self.place.folder(number), name, TEXT_BYTES)
        return (found or b"").decode(errors="replace")

    # --- what is answered --------------------------------------------------------------------

    async def check(self, number: int, given: str | bytes) -> dict[str, Any]:
        """Would it pass the verifier? Nothing is entered anywhere."""
        task, source = self.place.task(number), checked_source(given)
        try:
            error = self._twin(task, source)
        except DataError as wrong:
            error = wrong.message
        if not error:
            record = self.archive.run(self.run)
            error = await failure(self.archive, record, Design(source), self.models)
        return {"run": self.run, "number": number, "passed": not error, "error": error}

    async def submit(
        self, number: int, given: str | bytes, note: str, wait: float
    ) -> dict[str, Any]:
        """Hand in, and wait for what comes of it. Known copies and what is no Python are refused."""
        task, source = self.place.task(number), checked_source(given)
        if twin := self._twin(task, source):
            raise UsageError(f"not submitted: {twin}")
        submission = Submission(task.request, source, checked_note(note))
        if number not in self.place.open() or not self.place.submit(number, submission):
            waiting = ", ".join(map(str, self.place.waiting())) or "none"
            raise UsageError(
                f"request {number} does not wait for an answer (any more)",
                hint=f"requests that wait: {waiting}",
            )
        end = time.monotonic() + wait
        while (outcome := self.outcome(number, submission))["status"] == PENDING:
            if time.monotonic() >= end or not self._goes_on():
                break
            await asyncio.sleep(POLL_SECONDS)
        return outcome

    def _twin(self, task: Task, source: str) -> str:
        """Says so where the code is known already, in words; empty where it is new."""
        key = parsed_key(source)
        if Design(source).id == task.failed:
            return "this is the design that failed, with nothing changed"
        for record in self._journal():
            if record.design_id and _key(self.archive.design(record.design_id).source) == key:
                return f"this is the same code as the design {short(record.design_id)} of this run"
        return ""

    def _submitted(self, number: int) -> Submission | None:
        try:
            return self.place.submission(number)
        except MetamemError:
            return None

    # --- what came of it ---------------------------------------------------------------------

    def outcome(self, number: int, submission: Submission) -> dict[str, Any]:
        """What came of a submission, as far as is known by now."""
        design = submission.design.id
        told: dict[str, Any] = {
            "run": self.run,
            "number": number,
            "design": design,
            "status": PENDING,
            "score": None,
            "gain": None,
            "reason": "",
        }
        own = [r for r in self._journal() if r.design_id == design and r.operator != HUMAN]
        if own:
            return told | self._entered(own[-1])
        for later in (n for n in self.place.numbers() if n > number):
            try:
                task = self.place.task(later)
            except MetamemError:
                continue
            if task.failed == design:
                reason = f"{task.error}\n(request {later} asks for a repair)"
                return told | {"status": "failed", "reason": reason}
            if task.copied == design:
                reason = f"a copy of a known design (request {later} asks for another)"
                return told | {"status": "duplicate", "reason": reason}
        if self._submitted(number) is None:
            return told | {"status": "refused", "reason": self.place.refusal(number)}
        return told | {"reason": self._why_nothing()}

    def _entered(self, record: ProposalRecord) -> dict[str, Any]:
        told: dict[str, Any] = {"status": record.status, "reason": record.reason}
        if record.estimate is not None:
            means = self._means()
            told["score"] = record.estimate["mean"]
            if record.parents and record.parents[0] in means:
                told["gain"] = record.estimate["mean"] - means[record.parents[0]]
            if not record.estimate.get("complete", True):
                told["reason"] = "stopped early: it would not have become the best"
        return told

    def status(self) -> dict[str, Any]:
        """Where the run stands."""
        record = self._record()
        journal, means = self._journal(), self._means()
        people = {r.design_id for r in journal if r.operator == HUMAN}
        answered = [(n, s) for n in self.place.numbers() if (s := self._submitted(n))]
        return {
            "run": self.run,
            "domain": record.config["domain"]["name"] if record else None,
            "state": record.state if record else "created",
            "working": self._works(),
            "waiting": self.place.waiting(),
            "proposed": sum(r.operator != HUMAN for r in journal),
            "designs": (record.config["budget"]["designs"] if record else 0) or None,
            "best": _best({d: m for d, m in means.items() if d not in people}),
            "best_human": _best({d: m for d, m in means.items() if d in people}),
            "submissions": [self.outcome(n, s) for n, s in answered[-SHOWN:]],
            "message": self._why_nothing(),
        }

    def _journal(self) -> list[ProposalRecord]:
        return self.archive.proposals(self.run)

    def _means(self) -> dict[str, float]:
        """What the selector believes of each design, in the order they came."""
        found = ((r.design_id, r.estimate) for r in self._journal())
        return {d: e["mean"] for d, e in found if d is not None and e is not None}

    def _record(self) -> RunRecord | None:
        try:
            return self.archive.run(self.run)
        except UnknownName:
            return None  # its process is only starting

    def _works(self) -> bool:
        return self.here or seen(self.place.root)

    def _goes_on(self) -> bool:
        record = self._record()
        ended = record is not None and record.state == "finished"
        return not ended and not self.problem and self._works()

    def _why_nothing(self) -> str:
        record = self._record()
        if record is not None and record.state == "finished":
            return f"the run is finished: {_ending(record.summary)}"
        if self.problem:
            return f"the run cannot go on: {self.problem}"
        if waiting := self.place.waiting():
            return f"request {waiting[0]} waits for a design"
        if self._works():
            return "designs are being evaluated; ask again"
        return f"no process works on the run; go on with: metamem learn --run {self.run}"


def _key(source: str) -> str | None:
    try:
        return parsed_key(source)
    except DataError:
        return None


def _best(means: Mapping[str, float]) -> dict[str, Any] | None:
    if not means:
        return None
    design = max(means, key=lambda d: means[d])
    return {"design": design, "score": means[design]}


def _ending(summary: Mapping[str, Any]) -> str:
    return str(summary.get("decision", {}).get("reason", "nothing was decided"))
