"""A tiny project with a fault, for tests of the world and of its scoring."""

from metamem.domains.coding.outcomes import Outcomes
from metamem.domains.coding.tasks import Project, load_project
from metamem.domains.coding.workbench import RunLimits, Workbench

SOURCE = '''"""Prices."""


def total(prices):
    """The sum of all prices."""
    result = 0
    for price in prices[1:]:
        result += price
    return result


def cheapest(prices):
    if not prices:
        raise ValueError("no prices")
    return min(prices)
'''
FIXED = SOURCE.replace("prices[1:]", "prices")

TESTS = """import pytest
from shop.prices import cheapest, total


def test_total():
    assert total([1, 2, 3]) == 6


def test_total_of_one():
    assert total([5]) == 5


def test_total_of_nothing():
    assert total([]) == 0


def test_cheapest():
    assert cheapest([3, 1, 2]) == 1


def test_cheapest_of_nothing():
    with pytest.raises(ValueError):
        cheapest([])
"""
PATH, TEST_PATH = "shop/prices.py", "tests/test_prices.py"
TARGETS = (f"{TEST_PATH}::test_total", f"{TEST_PATH}::test_total_of_one")
OTHERS = tuple(
    f"{TEST_PATH}::test_{n}" for n in ("total_of_nothing", "cheapest", "cheapest_of_nothing")
)


def task_data(**changes):
    return {
        "files": {"shop/__init__.py": "", PATH: SOURCE, TEST_PATH: TESTS},
        "fix": {PATH: FIXED},
        "fail_to_pass": list(TARGETS),
        "pass_to_pass": list(OTHERS),
        "visible": list(TARGETS),
        **changes,
    }


def project(**changes) -> Project:
    return load_project("The total leaves out the first price.", task_data(**changes))


def workbench(folder=None, **limits) -> Workbench:
    return Workbench(Outcomes(folder), RunLimits(**limits))
