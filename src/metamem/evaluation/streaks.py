"""Stop designs that fail many times in a row, wherever in an evaluation that begins.

Cases are judged in an order that is fixed before the first is played, cut into blocks. Where the
failures in a row of a block come to `LATE_STRIKES`, the rest of the block is scored as failed.

**Why rows do not depend on how they were played.** Let f(c) be what comes of playing case c, which
is a function of the conditions alone. A block c1, c2, ... has a first place s, if any, where a row
of failures among f(c1), ..., f(cs) is long enough. The rows are f(ci) up to s and "stopped" after
it. That is a function of f and of the order, and of nothing else. Playing only has to find it out:
cases may be played in any order, by many workers, and beyond s; a row is kept when no case that is
still open could bring s before it, and what was played beyond s is thrown away. An evaluation that
is interrupted has kept rows of that function alone, and goes on from them to the same end.

The blocks of a race are such that it plays each from its beginning. They follow the race's own
order: outside of the race, or in another one, a design that is stopped here may be stopped at
another case. It cannot be otherwise: a race keeps its rows long before it knows what came of the
cases that another order has before them. All other designs have the same rows in any race or none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from metamem.core.types import Case, CaseResult
from metamem.evaluation.probation import HANG, STOPPED, WORDS, strikes
from metamem.evaluation.racing import RacePlan

# Six crashes or three hangs. Chance must not stop a design that works mostly: one that crashes in
# every fifth case is stopped in one of 200 evaluations of 100 cases. Three hangs take minutes.
LATE_STRIKES = 6


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the rows so far say of the cases."""

    final: frozenset[Case]  # played, and nothing that is still open can change their rows
    stopped: Mapping[Case, CaseResult]  # not to be played, with the rows that they get


@dataclass(frozen=True, slots=True)
class Streaks:
    """The blocks in which failures in a row are counted. A pure function of the rows."""

    blocks: tuple[tuple[Case, ...], ...]
    least: float = 0.0  # the reward of what is stopped

    @staticmethod
    def of_plan(tasks: Sequence[str], repeats: int) -> "Streaks":
        """One block. Repeats of a task lie far apart: one bad task is not many failures."""
        return Streaks((_passes([tasks], repeats),))

    @staticmethod
    def of_chains(chains: Iterable[Sequence[Case]]) -> "Streaks":
        """Each chain of cases is judged by itself."""
        return Streaks(tuple(tuple(chain) for chain in chains))

    @staticmethod
    def of_race(plan: RacePlan, repeats: int) -> "Streaks":
        """Two blocks: up to the last look, and from the estimate block on.

        That block may be played before what lies between an early look and the last one.
        """
        ends = (*plan.looks, *([plan.looks[-1] + len(plan.estimate_block)] if plan.looks else []))
        stages = [
            plan.order[a:b] for a, b in zip((0, *ends), (*ends, len(plan.order)), strict=True)
        ]
        looked, after = stages[: len(plan.looks)], stages[len(plan.looks) :]
        return Streaks(tuple(_passes(part, repeats) for part in (looked, after) if part))

    @property
    def cases(self) -> tuple[Case, ...]:
        """In the order in which they are judged, and so best played."""
        return tuple(case for block in self.blocks for case in block)

    def judge(self, rows: Mapping[Case, CaseResult]) -> Judgement:
        final: list[Case] = []
        stopped: dict[Case, CaseResult] = {}
        for block in self.blocks:
            worst, in_a_row, open_cases = 0, 0, False
            for place, case in enumerate(block, 1):
                row = rows.get(case)
                if row is not None and row.failure.startswith(STOPPED):
                    continue  # in another order, by an earlier race: that says nothing here
                if row is None:
                    worst, open_cases = worst + HANG, True
                else:
                    final.append(case)
                    worst = worst + strikes(row) if row.failure else 0
                    in_a_row = in_a_row + 1 if row.failure else 0
                if worst >= LATE_STRIKES:
                    if not open_cases and row is not None:
                        reason = WORDS.format(in_a_row, row.failure)[:200]
                        stopped |= {later: self._failed(later, reason) for later in block[place:]}
                    break
        return Judgement(frozenset(final), stopped)

    def _failed(self, case: Case, reason: str) -> CaseResult:
        return CaseResult(case.task_id, case.repeat, self.least, 0, failure=reason)


def _passes(stages: Iterable[Sequence[str]], repeats: int) -> tuple[Case, ...]:
    """Stage by stage, and within a stage repeat by repeat."""
    return tuple(Case(task, r) for stage in stages for r in range(repeats) for task in stage)
