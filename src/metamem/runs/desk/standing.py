"""Where a run stands that hands off, and what came of each submission.

Only what the search itself may see is told here: scores on train. What the gate decided on valid,
and the report on test and shift, are no business of whoever writes designs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from metamem.core.errors import MetamemError, UnknownName
from metamem.evaluation.statistics import t_interval
from metamem.runs.desk.quick import QuickCases
from metamem.search.handoff.alive import seen
from metamem.search.handoff.place import WorkFolder
from metamem.search.handoff.submission import Submission
from metamem.search.loop import HUMAN
from metamem.search.score import Score
from metamem.store.archive import Archive, ProposalRecord, RunRecord

SHOWN = 5  # outcomes in a status
PENDING = "pending"
DUPLICATE = "duplicate"


@dataclass
class Standing:
    """What is known of one run."""

    archive: Archive
    place: WorkFolder
    run: str
    here: bool = False  # whether this very process carries out the run
    problem: str = ""  # why it could not

    def status(self) -> dict[str, Any]:
        """Where the run stands."""
        record = self.record()
        journal, scores = self.journal(), self.scores()
        people = {r.design_id for r in journal if r.operator == HUMAN}
        own = [r for r in journal if r.operator != HUMAN]
        budget = self.budget()
        free = min(budget, sum(r.status == DUPLICATE for r in own))
        answered = [(n, s) for n in self.place.numbers() if (s := self.submitted(n))]
        quick = self.quick()
        return {
            "run": self.run,
            "domain": record.config["domain"]["name"] if record else None,
            "state": record.state if record else "created",
            "working": self.works(),
            "waiting": self.place.waiting(),
            "proposed": len(own) - free,
            "designs": budget or None,
            "duplicates": {"free": free, "free_left": max(0, budget - free)},
            "quick_cases": {"allowed": quick.allowed, "left": quick.left},
            "best": _best({d: s for d, s in scores.items() if d not in people}),
            "best_human": _best({d: s for d, s in scores.items() if d in people}),
            "submissions": [self.outcome(n, s) for n, s in answered[-SHOWN:]],
            "message": self.why_nothing(),
        }

    # --- what came of a submission -----------------------------------------------------------

    def outcome(self, number: int, submission: Submission) -> dict[str, Any]:
        """As far as is known by now."""
        design = submission.design.id
        told: dict[str, Any] = {
            "run": self.run,
            "number": number,
            "design": design,
            "status": PENDING,
            "score": None,
            "interval": None,
            "tasks": None,
            "of": None,
            "gain": None,
            "gain_interval": None,
            "free": False,
            "reason": "",
        }
        own = [r for r in self.journal() if r.design_id == design and r.operator != HUMAN]
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
                return told | {"status": DUPLICATE, "reason": reason}
        if self.submitted(number) is None:
            return told | {"status": "refused", "reason": self.place.refusal(number)}
        return told | {"reason": self.why_nothing()}

    def _entered(self, record: ProposalRecord) -> dict[str, Any]:
        told: dict[str, Any] = {"status": record.status, "reason": record.reason}
        if record.status == DUPLICATE:
            known = [r.ordinal for r in self.journal() if r.status == DUPLICATE]
            told["free"] = not self.budget() or known.index(record.ordinal) < self.budget()
        if record.design_id is None or record.estimate is None:
            return told
        scores = self.scores()
        told |= _told(scores[record.design_id])
        parent = record.parents[0] if record.parents else ""
        if parent in scores:
            told["gain"] = record.estimate["mean"] - scores[parent].mean
        if record.estimate["complete"]:
            ours, theirs = self.rewards(record.design_id), self.rewards(parent)
            if set(ours) <= set(theirs):
                told["gain_interval"] = paired(ours, theirs)["gain_interval"]
        else:
            told["reason"] = "stopped early: it would not have become the best"
        return told

    # --- what the archive and the folder say -------------------------------------------------

    def journal(self) -> list[ProposalRecord]:
        return self.archive.proposals(self.run)

    def scores(self) -> dict[str, Score]:
        """What the selector believes of each design, in the order they came."""
        found = [(r.design_id, r.estimate) for r in self.journal()]
        every = max((e["n"] for _, e in found if e), default=0)  # people's designs play all tasks
        return {d: Score.stored(e, every) for d, e in found if d is not None and e is not None}

    def rewards(self, design: str) -> dict[str, float]:
        """By task, of a design of this run; empty where it was not evaluated."""
        for record in self.journal():
            if record.design_id == design and record.evaluation_id is not None:
                evaluation = self.archive.evaluation(record.evaluation_id)
                return evaluation.by_task() if evaluation else {}
        return {}

    def submitted(self, number: int) -> Submission | None:
        try:
            return self.place.submission(number)
        except MetamemError:
            return None

    def record(self) -> RunRecord | None:
        try:
            return self.archive.run(self.run)
        except UnknownName:
            return None  # its process is only starting

    def budget(self) -> int:
        """Designs that the run may ask for; 0 where only time bounds it."""
        record = self.record()
        return int(record.config["budget"]["designs"]) if record else 0

    def quick(self) -> QuickCases:
        return QuickCases(self.archive, self.run, self.budget() or len(self.place.numbers()))

    def works(self) -> bool:
        return self.here or seen(self.place.root)

    def goes_on(self) -> bool:
        record = self.record()
        ended = record is not None and record.state == "finished"
        return not ended and not self.problem and self.works()

    def why_nothing(self) -> str:
        record = self.record()
        if record is not None and record.state == "finished":
            return f"the run is finished; its result is for its owner: metamem runs show {self.run}"
        if self.problem:
            return f"the run cannot go on: {self.problem}"
        waiting = self.place.waiting()
        asked = f"request {waiting[0]} waits for a design" if waiting else ""
        if self.works():
            return asked or "designs are being evaluated; ask again"
        stopped = f"no process works on the run; go on with: metamem learn --run {self.run}"
        return f"{asked}; {stopped}" if asked else stopped


def _told(score: Score) -> dict[str, Any]:
    return {
        "score": score.mean,
        "interval": [score.low, score.high],
        "tasks": score.tasks,
        "of": score.of,
    }


def _best(scores: Mapping[str, Score]) -> dict[str, Any] | None:
    if not scores:
        return None
    design = max(scores, key=lambda d: scores[d].mean)
    return {"design": design, **_told(scores[design])}


def paired(ours: Mapping[str, float], theirs: Mapping[str, float]) -> dict[str, Any]:
    """The gain of one design over another, task by task, on the tasks of both."""
    gains = [reward - theirs[task] for task, reward in ours.items() if task in theirs]
    interval = list(t_interval(gains)) if len(gains) > 1 else None
    return {"gain": fmean(gains) if gains else None, "gain_interval": interval}
