"""All luck in the jail comes from the host's seed, wherever a design takes it from."""

import os
import random
import sys
from typing import Any

_urandom = random.Random()  # where the system's own luck would come from


def seed(number: int) -> None:
    random.seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number % 2**32)
    _urandom.seed(number)
    os.urandom = _urandom.randbytes  # so that uuid4 and its like repeat
    random._urandom = os.urandom  # type: ignore[attr-defined]  # and `secrets`, and numpy's seeds


def state() -> tuple[Any, Any, Any]:
    numpy = sys.modules["numpy"].random.get_state() if "numpy" in sys.modules else None
    return random.getstate(), _urandom.getstate(), numpy


def restore(saved: tuple[Any, Any, Any]) -> None:
    standard, system, numpy = saved
    random.setstate(standard)
    _urandom.setstate(system)
    if numpy is not None:
        import numpy as np

        np.random.set_state(numpy)
