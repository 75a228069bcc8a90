"""A few small games, made once for all tests here."""

import pytest

from tests.extras import needs

needs("textworld")

from metamem.domains.textworld.domain import TextWorldDomain

SMALL = {"houses": 2, "shift_houses": 1, "train": 4, "valid": 2, "test": 2, "shift": 2}


@pytest.fixture
def small():
    """A domain of four games: a treasure hunt, a kitchen, and for shift an unseen house with a
    treasure and a coin to collect."""
    return lambda **settings: TextWorldDomain(**{**SMALL, **settings})
