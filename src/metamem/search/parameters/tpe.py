"""Tree-structured Parzen estimators, as Optuna makes them."""

import logging
from typing import Any

from metamem.core import extras
from metamem.core.space import Choice, Float, Int, Parameter
from metamem.core.types import Kind
from metamem.search.parameters.moving import space_of
from metamem.search.proposer import Proposal, Request

OPERATOR = "tpe"
SEEDS = 2**32  # so many has Optuna


class Tpe:
    """Draws values that are likelier among the better of all that was tried than among the rest.

    Its study is made of the journal each time it is asked: it keeps nothing.
    """

    kind: Kind = "params"

    def __init__(self) -> None:
        extras.load("optuna")
        logging.getLogger("optuna").setLevel(logging.WARNING)  # it tells of every study and trial

    async def propose(self, request: Request) -> Proposal:
        import optuna

        space = space_of(request)
        sampler = optuna.samplers.TPESampler(seed=request.seed % SEEDS)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for each in request.tried:
            known = {n: _known(space.parameters[n], v) for n, v in space.read(each.design).items()}
            told = {name: value for name, (value, _) in known.items()}
            lies_in = {name: distribution for name, (_, distribution) in known.items()}
            study.add_trial(
                optuna.create_trial(params=told, distributions=lies_in, value=each.mean)
            )
        trial = study.ask()
        found: dict[str, Any] = {}
        for name, parameter in space.parameters.items():
            if name in space.completed(found):
                found[name] = _suggested(trial, name, parameter)
        note = f"drawn from what was better of {len(request.tried)} sets"
        return Proposal(space.design(found), (), OPERATOR, note)


def _known(parameter: Parameter, value: Any) -> tuple[Any, Any]:
    """A value and where it lies, as Optuna has it. An option is known by its number: it may be
    anything that JSON can hold."""
    from optuna.distributions import (
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )

    if isinstance(parameter, Int):
        return value, IntDistribution(parameter.low, parameter.high, log=parameter.log)
    if isinstance(parameter, Float):
        return value, FloatDistribution(parameter.low, parameter.high, log=parameter.log)
    if isinstance(parameter, Choice):
        number = next(n for n, o in enumerate(parameter.options) if parameter.same(o, value))
        return number, CategoricalDistribution(range(len(parameter.options)))
    return parameter.position(value), FloatDistribution(0.0, 1.0)


def _suggested(trial: Any, name: str, parameter: Parameter) -> Any:
    if isinstance(parameter, Int):
        return trial.suggest_int(name, parameter.low, parameter.high, log=parameter.log)
    if isinstance(parameter, Float):
        return trial.suggest_float(name, parameter.low, parameter.high, log=parameter.log)
    if isinstance(parameter, Choice):
        return parameter.options[trial.suggest_categorical(name, range(len(parameter.options)))]
    return parameter.at(trial.suggest_float(name, 0.0, 1.0))
