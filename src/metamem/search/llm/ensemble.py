"""Which of several models writes next: the more it gained for what it cost, the likelier."""

from collections.abc import Mapping, Sequence
from random import Random

from metamem.core.ids import derive_seed
from metamem.search.proposer import OperatorOutcome, Request
from metamem.search.recombine.credit import DECAY, LEAST, MOST, PRIOR

OPERATOR = "llm"


def operator(request: Request, model: str) -> str:
    """Under which name a model earns credit."""
    return f"{OPERATOR}:{model}" if len(request.chats) > 1 else OPERATOR


def choose(request: Request) -> str:
    """The name of a model: the one of the try before, else by chance and credit."""
    names = sorted(request.chats)
    if request.earlier is not None:
        for name in names:
            if request.earlier.operator == operator(request, name):
                return name
    odds = credit(request.history, [operator(request, name) for name in names])
    luck = Random(derive_seed("ensemble", request.seed))
    return luck.choices(names, [odds[operator(request, name)] for name in names])[0]


def credit(history: Sequence[OperatorOutcome], operators: Sequence[str]) -> Mapping[str, float]:
    """A weight for each operator, 1 is average: improvement for what it cost, old ones less.

    Each starts with some outcomes of the average kind, and stays within bounds: none ever dies.
    """
    outcomes = [(age, o) for age, o in enumerate(reversed(history)) if o.operator in operators]
    costs = [o.cost for _, o in outcomes if o.cost > 0]
    usual = sum(costs) / len(costs) if costs else 1.0  # what one costs where nobody counted
    gained, spent = dict.fromkeys(operators, 0.0), dict.fromkeys(operators, 0.0)
    for age, outcome in outcomes:
        gained[outcome.operator] += DECAY**age * max(outcome.gain or 0.0, 0.0)
        spent[outcome.operator] += DECAY**age * (outcome.cost or usual)
    if not any(gained.values()):
        return dict.fromkeys(operators, 1.0)
    overall = sum(gained.values()) / sum(spent.values())
    prior = PRIOR * usual
    return {
        name: min(MOST, max(LEAST, (gained[name] / overall + prior) / (spent[name] + prior)))
        for name in operators
    }
