"""Typed parameters: what each may be, which hold only where another has some value, and what they
are by default.

Every parameter maps its values onto positions from 0 to 1, so that whoever searches needs to know
nothing about types: it moves positions, and what comes out is always a value.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from metamem.core.errors import DataError, UsageError
from metamem.core.ids import canonical_json
from metamem.core.types import Design

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Only:
    """A parameter means something only where another, named before it, has one of some values."""

    parameter: str
    values: tuple[Any, ...]

    def __str__(self) -> str:
        return f"only where {self.parameter!r} is {' or '.join(map(repr, self.values))}"


class Parameter(Protocol):
    """One parameter of a space."""

    @property
    def default(self) -> Any: ...

    @property
    def only(self) -> Only | None: ...

    def problem(self, value: Any) -> str:
        """Why something is no value of this parameter; empty where it is one."""
        ...

    def at(self, position: float) -> Any:
        """The value at a position from 0 to 1."""
        ...

    def position(self, value: Any) -> float:
        """Where a value lies: `at` leads back to it."""
        ...

    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Int:
    """A whole number, ends included; `log`: each doubling counts alike."""

    low: int
    high: int
    default: int
    log: bool = False
    only: Only | None = None

    def __post_init__(self) -> None:
        _check_range(self.low, self.high, self.log)

    def problem(self, value: Any) -> str:
        if not isinstance(value, int) or isinstance(value, bool):
            return f"must be a whole number, not {value!r}"
        return "" if self.low <= value <= self.high else _outside(self.low, self.high, value)

    def at(self, position: float) -> int:
        if self.log:
            return _clamped(round(_log_at(self.low, self.high, position)), self.low, self.high)
        steps = self.high - self.low + 1
        return self.low + min(int(_unit(position) * steps), steps - 1)

    def position(self, value: int) -> float:
        if self.log:
            return _log_position(self.low, self.high, value)
        return (value - self.low + 0.5) / (self.high - self.low + 1)

    def __str__(self) -> str:
        return f"whole number from {self.low} to {self.high}{_scale(self.log)}"


@dataclass(frozen=True, slots=True)
class Float:
    """A number, ends included; `log`: each doubling counts alike."""

    low: float
    high: float
    default: float
    log: bool = False
    only: Only | None = None

    def __post_init__(self) -> None:
        _check_range(self.low, self.high, self.log)

    def problem(self, value: Any) -> str:
        if not isinstance(value, int | float) or isinstance(value, bool):
            return f"must be a number, not {value!r}"
        return "" if self.low <= value <= self.high else _outside(self.low, self.high, value)

    def at(self, position: float) -> float:
        if self.log:
            value = _log_at(self.low, self.high, position)
        else:
            value = self.low + _unit(position) * (self.high - self.low)
        return min(max(value, float(self.low)), float(self.high))

    def position(self, value: float) -> float:
        if self.log:
            return _log_position(self.low, self.high, value)
        return (value - self.low) / (self.high - self.low)

    def __str__(self) -> str:
        return f"number from {self.low:g} to {self.high:g}{_scale(self.log)}"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some plain values, in no order."""

    options: tuple[Any, ...]
    default: Any
    only: Only | None = None

    def __post_init__(self) -> None:
        if len(self.options) < 2 or len({canonical_json(o) for o in self.options}) < len(
            self.options
        ):
            raise UsageError(f"a choice needs two options or more, all different: {self.options}")

    def problem(self, value: Any) -> str:
        if self._place(value) is not None:
            return ""
        return f"must be one of {', '.join(map(repr, self.options))}, not {value!r}"

    def at(self, position: float) -> Any:
        return self.options[min(int(_unit(position) * len(self.options)), len(self.options) - 1)]

    def position(self, value: Any) -> float:
        place = self._place(value)
        if place is None:
            raise UsageError(self.problem(value))
        return (place + 0.5) / len(self.options)

    @staticmethod
    def same(one: Any, other: Any) -> bool:
        """By type, too: True is not 1."""
        return type(one) is type(other) and bool(one == other)

    def _place(self, value: Any) -> int | None:
        return next((n for n, option in enumerate(self.options) if self.same(option, value)), None)

    def __str__(self) -> str:
        return f"one of {', '.join(map(str, self.options))}"


def Bool(default: bool, only: Only | None = None) -> Choice:
    """A switch."""
    return Choice((False, True), default, only)


@dataclass(frozen=True, slots=True)
class Space:
    """All parameters by name. A set of values has every parameter that holds, and no other."""

    parameters: Mapping[str, Parameter]

    def __post_init__(self) -> None:
        if not self.parameters:
            raise UsageError("a space needs at least one parameter")
        seen: dict[str, Parameter] = {}
        for name, parameter in self.parameters.items():
            if not name.isidentifier():
                raise UsageError(f"{name!r} is no name for a parameter")
            if problem := parameter.problem(parameter.default):
                raise UsageError(f"the default of {name!r} {problem}")
            if only := parameter.only:
                if only.parameter not in seen:
                    raise UsageError(
                        f"{name!r} hangs on {only.parameter!r}, which is not named before it"
                    )
                for value in only.values:
                    if problem := seen[only.parameter].problem(value):
                        raise UsageError(f"{name!r} waits in vain: {only.parameter!r} {problem}")
            seen[name] = parameter

    def completed(self, values: Values) -> dict[str, Any]:
        """Every parameter that holds, by default where nothing is said; the others left out."""
        found: dict[str, Any] = {}
        for name, parameter in self.parameters.items():
            if self._holds(parameter, found):
                found[name] = values.get(name, parameter.default)
        return found

    def defaults(self) -> dict[str, Any]:
        return self.completed({})

    def drawn(self, luck: Random) -> dict[str, Any]:
        """Any values, each parameter drawn evenly over its positions."""
        return self.completed({n: p.at(luck.random()) for n, p in self.parameters.items()})

    def problems(self, values: Values) -> list[str]:
        """All that is wrong with a set of values, in words."""
        found = [
            f"{name!r} {problem}"
            for name, parameter in self.parameters.items()
            if name in values and (problem := parameter.problem(values[name]))
        ]
        found += [f"there is no parameter {name!r}" for name in values.keys() - self.parameters]
        if not found:
            holding = self.completed(values)
            found += [f"{name!r} is missing" for name in holding if name not in values]
            found += [
                f"{name!r} does not hold here: {self.parameters[name].only}"
                for name in values
                if name not in holding
            ]
        return found

    def check(self, values: Values) -> None:
        if problems := self.problems(values):
            raise UsageError(
                f"these are no parameters of this space: {'; '.join(sorted(problems))}",
                hint=f"it has {', '.join(self.parameters)}",
            )

    def design(self, values: Values, name: str = "") -> Design:
        """A set of values as a design: equal values have equal ids, in whatever order."""
        self.check(values)
        return Design(canonical_json(self._written(values)), "params", name)

    def read(self, design: Design) -> dict[str, Any]:
        """The values of a design, checked."""
        try:
            values = json.loads(design.source)
        except ValueError as error:
            raise DataError(f"this is no set of parameters: {error}") from error
        if not isinstance(values, dict):
            raise DataError("a set of parameters is a JSON object of names and values")
        self.check(values)
        return self._written(values)

    def _written(self, values: Values) -> dict[str, Any]:
        """3 is 3.0 where any number may stand."""
        return {
            name: float(value) if isinstance(self.parameters[name], Float) else value
            for name, value in values.items()
        }

    def __iter__(self) -> Iterator[str]:
        return iter(self.parameters)

    def _holds(self, parameter: Parameter, found: Values) -> bool:
        only = parameter.only
        return only is None or (only.parameter in found and found[only.parameter] in only.values)


def _check_range(low: float, high: float, log: bool) -> None:
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise UsageError(f"from {low} to {high} is no range")
    if log and low <= 0:
        raise UsageError(f"a range that counts doublings starts above 0, not at {low}")


def _unit(position: float) -> float:
    return min(max(position, 0.0), 1.0)


def _clamped(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def _log_at(low: float, high: float, position: float) -> float:
    return math.exp(math.log(low) + _unit(position) * (math.log(high) - math.log(low)))


def _log_position(low: float, high: float, value: float) -> float:
    return (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))


def _outside(low: float, high: float, value: Any) -> str:
    return f"must lie from {low} to {high}, not at {value!r}"


def _scale(log: bool) -> str:
    return ", by doublings" if log else ""
