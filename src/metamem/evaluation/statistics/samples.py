"""What every test here works on: clean numbers, and the answer's shape."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from metamem.core.errors import UsageError

Side = Literal["two-sided", "greater", "less"]
Numbers = npt.NDArray[np.float64]

# Averaging repeats leaves dust of this size in differences that are really zero.
DUST = 1e-12


@dataclass(frozen=True, slots=True)
class Significance:
    """A test's statistic, its p-value and how that was computed."""

    statistic: float
    p: float
    method: str
    df: float | None = None


def numbers(values: Iterable[float], *, least: int = 1) -> Numbers:
    """Finite numbers, at least so many of them, or a clear refusal."""
    array = np.asarray(list(values), dtype=np.float64)
    if array.ndim != 1 or array.size < least:
        raise UsageError(
            f"at least {least} values are needed, got {array.size}",
            hint="the task is the unit of statistics: evaluate on more tasks",
        )
    if not np.isfinite(array).all():
        raise UsageError("a value is missing or infinite; statistics need finite rewards")
    return array


def mean(values: Numbers) -> float:
    """Summed exactly, so that the order of tasks cannot change the last digit."""
    return math.fsum(values.tolist()) / values.size


def deviation(values: Numbers) -> float:
    """The sample standard deviation; exactly 0 where all values agree."""
    centre = mean(values)
    if float(np.abs(values - centre).max()) <= DUST:
        return 0.0
    return math.sqrt(math.fsum(((values - centre) ** 2).tolist()) / (values.size - 1))


def two_sided(tail: float) -> float:
    return min(1.0, 2.0 * tail)
