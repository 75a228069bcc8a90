"""Covariance matrix adaptation, as the package cmaes makes it (Optuna's sampler is a coat over it).

Optuna keeps the state of the optimiser with its trials. Here it is told the journal again each time
it is asked, and keeps nothing.
"""

import numpy as np
import numpy.typing as npt

from metamem.core import extras
from metamem.core.errors import UsageError
from metamem.core.space import Space
from metamem.core.types import Kind
from metamem.search.parameters.moving import space_of
from metamem.search.proposer import Proposal, Request, Tried

OPERATOR = "cmaes"
WIDTH = 0.25  # of the first distribution, as a share of a parameter's whole range
SEEDS = 2**32  # so many has numpy
FEWEST = (
    2  # dimensions that cmaes takes: a space of one parameter is given another that says nothing
)


class CmaEs:
    """Draws from a normal distribution over positions, which moves to what was better.

    It begins around the best that people made. A generation has as many as a batch of the search, so
    that none is drawn in vain; what does not hold beside the other values is told as the middle.
    """

    kind: Kind = "params"

    def __init__(self, population: int = 6) -> None:
        if population < 4:
            raise UsageError(f"a generation has four at least, not {population}")
        extras.load("optuna")
        self._population = population

    async def propose(self, request: Request) -> Proposal:
        import cmaes

        space = space_of(request)
        dimensions = max(len(space.parameters), FEWEST)
        people = [each for each in request.tried if each.human]
        middle = np.full(dimensions, 0.5)
        if people:
            middle = _places(space, max(people, key=lambda each: each.mean), middle)
        optimiser = cmaes.CMA(
            mean=middle,
            sigma=WIDTH,
            bounds=np.tile([0.0, 1.0], (dimensions, 1)),
            population_size=self._population,
        )
        own = [each for each in request.tried if each.operator == OPERATOR]
        for end in range(self._population, len(own) + 1, self._population):
            generation = own[end - self._population : end]
            middle = np.clip(optimiser.mean, 0.0, 1.0)
            optimiser.tell([(_places(space, each, middle), -each.mean) for each in generation])
        optimiser.reseed_rng(request.seed % SEEDS)
        drawn = zip(space.parameters.items(), optimiser.ask(), strict=False)
        values = space.completed({n: parameter.at(float(at)) for (n, parameter), at in drawn})
        note = f"drawn from generation {optimiser.generation}"
        return Proposal(space.design(values), (), OPERATOR, note)


def _places(space: Space, tried: Tried, middle: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The position of every parameter, in order."""
    values = space.read(tried.design)
    found = middle.copy()
    for place, (name, parameter) in enumerate(space.parameters.items()):
        if name in values:
            found[place] = parameter.position(values[name])
    return found
