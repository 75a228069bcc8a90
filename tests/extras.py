"""Packages that some tests need: a test is skipped where one is absent, never where it is broken."""

import importlib
from importlib.metadata import PackageNotFoundError, distribution
from types import ModuleType

import pytest

from tests.quick import leave_out_engines


def needs(package: str) -> ModuleType:
    """The package, imported. Skips where it was never installed; where it was, it must import."""
    leave_out_engines()
    try:
        distribution(package)
    except PackageNotFoundError:
        pytest.skip(f"the package {package} is not installed", allow_module_level=True)
    return importlib.import_module(package)
