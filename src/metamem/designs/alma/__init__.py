"""Designs written for ALMA's own repository, run unchanged (docs/alma-designs.md).

Loaded in the jail, and only for a source that says `MemoStructure`.
"""

import ast
import inspect
from collections.abc import Callable
from functools import partial
from types import ModuleType

from metamem.designs.alma import clock, imports
from metamem.designs.alma.adapter import AlmaMemory
from metamem.designs.alma.fields import Fields
from metamem.designs.alma.structure import MemoStructure
from metamem.designs.contract import Memory
from metamem.designs.toolbox import Tools

_BASE = MemoStructure.__name__


def prepare(source: str, filename: str) -> Callable[[ModuleType], Callable[[Tools], Memory]] | None:
    """Make ready for a design of ALMA's kind, before it is run; None where it is not of that kind.

    What is returned makes memories of the module that the source has become.
    """
    nodes = list(ast.walk(ast.parse(source, filename)))
    if not any(isinstance(node, ast.ClassDef) and _is_structure(node) for node in nodes):
        return None
    named = imports.modules_named(nodes)
    imports.provide(named, filename)
    clock.provide()
    if any(name.partition(".")[0] == "networkx" for name in named):
        from metamem.designs.alma import graphs

        graphs.provide()
    return partial(_adopt, Fields.named_in(nodes))


def _is_structure(node: ast.ClassDef) -> bool:
    names = (b.attr if isinstance(b, ast.Attribute) else getattr(b, "id", "") for b in node.bases)
    return _BASE in names


def _adopt(fields: Fields, module: ModuleType) -> Callable[[Tools], Memory]:
    """ALMA takes the first structure by name, wherever it stands in the file; so do we."""
    found = [
        kind
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, MemoStructure) and kind.__module__ == module.__name__
    ]
    if not found:
        raise TypeError(f"the file's {_BASE} is not that of agents.memo_structure")
    whole = [kind for kind in found if not inspect.isabstract(kind)]
    if not whole:
        missing = ", ".join(sorted(found[0].__abstractmethods__))
        raise TypeError(f"{found[0].__name__} does not define {missing}")
    return partial(AlmaMemory, whole[0], fields)
