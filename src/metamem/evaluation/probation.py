"""Stop designs that fail from their first case on: all that is left would fail like it.

The first cases of an evaluation are played one by one, in an order that the plan alone fixes: the
same in every process, in a race or not, however many workers there are. So what is stopped is a
function of the conditions, and rows stay comparable and repeatable.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from metamem.core.types import Case, CaseResult

STRIKES = 3
HANGS = "wall"  # the kind of failure that the clock found
HANG = 2  # strikes: it was seen twice, since it counts only where it came again alone
STOPPED = "stopped"
WORDS = STOPPED + " after {} failures in a row, the last: {}"


def strikes(row: CaseResult) -> int:
    """How much the failure of a case weighs."""
    return HANG if row.failure.startswith(HANGS) else 1


def why_stopped(rows: Iterable[CaseResult]) -> str:
    """Why a design was not played to the end; empty where it was, or may be yet."""
    return next((row.failure for row in rows if row.failure.startswith(STOPPED)), "")


@dataclass(frozen=True, slots=True)
class Standing:
    """What the rows so far say. Neither a next case nor a reason: the design has passed."""

    next_case: Case | None = None
    stopped: str = ""  # why nothing more is played


PASSED = Standing()


@dataclass(frozen=True, slots=True)
class Probation:
    """The cases that are played first. A pure function of the rows, so it resumes by itself."""

    cases: tuple[Case, ...]

    def standing(self, rows: Mapping[Case, CaseResult]) -> Standing:
        """One success is enough to pass; a design that never succeeds is stopped."""
        weight = 0
        for number, case in enumerate(self.cases, 1):
            row = rows.get(case)
            if row is None:
                return Standing(case)
            if not row.failure:
                return PASSED
            weight += strikes(row)
            if weight >= STRIKES:
                return Standing(stopped=WORDS.format(number, row.failure)[:200])
        return PASSED

    def tried(self, rows: Mapping[Case, CaseResult]) -> Iterator[Case]:
        """The cases that come first whatever is played: those up to the first success."""
        for case in self.cases:
            if case not in rows:
                return
            yield case
            if not rows[case].failure:
                return
