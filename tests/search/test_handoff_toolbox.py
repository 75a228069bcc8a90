"""toolbox.md: whoever may read no code of metamem learns from it how the parts for thinking are called."""

import importlib
import inspect
import pkgutil

import pytest

from metamem.designs import thinking
from metamem.search.handoff.toolbox import toolbox

PARTS = sorted(part.name for part in pkgutil.iter_modules(thinking.__path__))


def its_own(module):
    return [
        (name, thing)
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__
    ]


@pytest.mark.parametrize("part", PARTS)
def test_everything_public_of_a_part_is_told_with_its_arguments(part):
    module = importlib.import_module(f"{thinking.__name__}.{part}")
    told = toolbox().split(f"## {module.__name__}\n")[1].split("\n## ")[0]
    assert inspect.getdoc(module).splitlines()[0] in told
    for name, thing in its_own(module):
        if inspect.isclass(thing):
            assert f"`class {name}`" in told, name
            for each, method in vars(thing).items():
                if inspect.isfunction(method) and not each.startswith("_"):
                    for argument in inspect.signature(method).parameters:
                        assert argument in told.split(f"- `{each}(")[1].split("`")[0], (name, each)
        elif inspect.isfunction(thing):
            for argument in inspect.signature(thing).parameters:
                assert argument in told.split(f"`{name}(")[1].split("`")[0], name


def test_nothing_that_is_for_a_part_alone_is_told():
    assert not [line for line in toolbox().splitlines() if line.startswith(("`_", "- `_")) and
                not line.startswith("- `__init__")]  # fmt: skip
