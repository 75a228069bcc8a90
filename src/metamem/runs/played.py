"""Several designs on one split, with whoever watches told what is played."""

from collections.abc import Sequence

from metamem.core.aside import aside
from metamem.core.progress import Progress
from metamem.core.together import together
from metamem.core.types import CaseResult, Design, Evaluation
from metamem.evaluation.evaluator import Evaluator
from metamem.evaluation.record import OnCase


def watched(watch: Progress) -> OnCase:
    def played(row: CaseResult) -> None:
        watch.cases()
        watch.advance()

    return played


async def evaluations(
    evaluator: Evaluator,
    designs: Sequence[Design],
    split: str,
    purpose: str,
    watch: Progress,
    words: str,
) -> list[Evaluation]:
    """The evaluations of all designs at once; `words` tell whoever watches what is played."""
    if missing := await aside(evaluator.missing, designs, split):
        if collecting := await aside(evaluator.to_collect, split):
            watch.phase("collecting experiences", collecting)
            await evaluator.collected(split)
        watch.phase(words, missing)
    outcomes = [evaluator.evaluate(design, split, purpose=purpose) for design in designs]
    return [outcome.evaluation for outcome in await together(outcomes)]
