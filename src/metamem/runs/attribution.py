"""Where the gain of a learned design comes from: what it remembers, and what it brings along."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from metamem.core.figures import Scale
from metamem.core.protocols import Domain
from metamem.core.types import Evaluation
from metamem.designs.library import NO_MEMORY
from metamem.promotion.gate import Decision, Gate
from metamem.runs.summary import Summary
from metamem.runs.table import LEARNED
from metamem.search.learnables import Deprived, Learnable

EXPERIENCE, ORDER = "experience", "order"  # what rows of a table can lack
NAMES = {EXPERIENCE: f"{LEARNED}, no experience", ORDER: f"{LEARNED}, scrambled"}

# A design, by its id, on valid without something.
Play = Callable[[str, Deprived], Awaitable[Evaluation]]


def row_name(deprived: Deprived) -> str:
    """How its row in a table is called."""
    return NAMES.get(deprived.lacks, f"{LEARNED}, no {deprived.lacks}")


async def vouched(
    gate: Gate,
    decision: Decision,
    valid: Mapping[str, Evaluation],
    learnable: Learnable,
    domain: Domain,
    play: Play,
    *,
    allowed: bool,
    seed: int,
) -> Decision:
    """The decision, for the best that passed and lives by what it should.

    Those that passed are played without it in turn, until one is found. Where anything is `allowed`,
    the first is promoted all the same, and the decision tells what speaks against it.
    """
    deciding = next((d for d in learnable.deprivations if d.decides), None)
    if deciding is None:
        return decision
    objections: dict[str, str] = {}
    for candidate in (c.design for c in decision.comparisons if c.passed):
        ours = valid[candidate].by_task()
        without = (await play(candidate, deciding)).by_task()
        against = learnable.objection(domain, ours, without, decision.level, seed)
        if not against:
            break
        if allowed:
            return replace(decision, reason=f"{decision.reason}; {against}, which was allowed")
        objections[candidate] = against
    return gate.heeding(decision, objections)


@dataclass(frozen=True, slots=True)
class Attribution:
    """The learned design's gain over no memory on a split, by where it comes from."""

    split: str
    gain: float  # over no memory
    remembered: float  # over itself with no experience
    low: float  # of what is remembered, at 95 %
    high: float
    scrambled: float | None  # what it reaches with scrambled experience

    @property
    def built_in(self) -> float:
        return self.gain - self.remembered

    def told(self, scale: Scale) -> str:
        """In a sentence or two."""
        unit = scale.unit_of_gains
        words = (
            f"Of its gain over no memory on {self.split} ({scale.gain(self.gain)}{unit}),"
            f" {scale.gain(self.remembered)}{unit} are remembered (95 % interval"
            f" {scale.gain(self.low)} to {scale.gain(self.high)}) and"
            f" {scale.gain(self.built_in)}{unit} the design brings along."
        )
        if self.scrambled is None:
            return words
        reached = f"{scale.value(self.scrambled)}{scale.unit}"
        return f"{words} With scrambled experience it reaches {reached}."


def attributions(summary: Summary) -> list[Attribution]:
    """For each split whose table tells; none for runs of parameters, or of earlier versions."""
    found = []
    for split, rows in summary.tables.items():
        learned, without = summary.row(split), summary.row(split, NO_MEMORY)
        lacking = {row.lacks: row for row in rows if row.lacks}
        unaided, order = lacking.get(EXPERIENCE), lacking.get(ORDER)
        if learned and without and unaided and unaided.comparison:
            own = unaided.comparison
            found.append(
                Attribution(
                    split,
                    learned.mean - without.mean,
                    own.gain,
                    own.low,
                    own.high,
                    order.mean if order else None,
                )
            )
    return found
