"""Several operators, each as often as it pays: a bandit whose pay is what the search really gained."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

from metamem.core import registry
from metamem.core.errors import UsageError
from metamem.core.ids import derive_seed
from metamem.core.types import Kind
from metamem.search.proposer import OperatorOutcome, Proposal, Proposer, Request
from metamem.search.recombine import credit

OPERATORS = ("gaussian", "annealing", "crossover", "sample")
SHARPER = (
    2.0  # there are few of them: in proportion to what they bring, the best has too small a share
)


class Adaptive:
    """Asks one of several proposers, the likelier the more its children brought of late."""

    kind: Kind = "params"

    def __init__(self, operators: Sequence[str] = OPERATORS) -> None:
        self._made: dict[str, Proposer] = {
            registry.portable(name): registry.create("proposers", name) for name in operators
        }
        self.operators = tuple(self._made)
        if len(self.operators) < 2:
            raise UsageError("to choose among operators takes two of them at least")
        for name, made in self._made.items():
            if getattr(made, "kind", "code") != self.kind or isinstance(made, Adaptive):
                raise UsageError(f"{name} is no operator that sets parameters")

    async def propose(self, request: Request) -> Proposal:
        odds = chances(request.history, self.operators)
        luck = Random(derive_seed("adaptive", request.seed))
        name = luck.choices(self.operators, [odds[each] for each in self.operators])[0]
        made = await self._made[name].propose(request)
        return replace(made, operator=name, note=f"{made.note} ({name} at {odds[name]:.0%})")


def chances(history: Sequence[OperatorOutcome], operators: Sequence[str]) -> Mapping[str, float]:
    """How likely each operator is to be asked next.

    What counts is how far a child lies ahead of the best before it. Measured against their own
    parents, those operators would be paid best that begin with the worst.
    """
    paid = [replace(outcome, gain=outcome.ahead) for outcome in history]
    credits = credit.weights(paid, lambda name: name if name in operators else "")
    weights = {name: credits.get(name, 1.0) ** SHARPER for name in operators}
    return {name: weight / sum(weights.values()) for name, weight in weights.items()}
