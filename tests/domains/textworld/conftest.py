"""A few small games, made once for all tests here."""

import pytest

from tests.extras import needs

needs("textworld")

from metamem.domains.textworld.domain import TextWorldDomain

SMALL = {"houses": 2, "shift_houses": 1, "train": 4, "valid": 2, "test": 2, "shift": 2}


@pytest.fixture
def small():
    """A domain of three games: a treasure hunt, a kitchen, and a coin to collect for shift."""
    return lambda **settings: TextWorldDomain(**{**SMALL, **settings})
