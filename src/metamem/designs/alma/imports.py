"""What ALMA's designs import, under the names they know it by; in this process alone."""

import ast
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType

_HERE = "metamem.designs.alma"
_CHROMA = {"Chroma": f"{_HERE}.chroma:Chroma"}
_DOCUMENT = {"Document": f"{_HERE}.documents:Document"}
# What a module holds, and where that comes from: loaded only for designs that import the module.
_STAND_INS = {
    "agents.memo_structure": {
        "MemoStructure": f"{_HERE}.structure:MemoStructure",
        "Sub_memo_layer": f"{_HERE}.structure:Sub_memo_layer",
    },
    "eval_envs.base_envs": {"Basic_Recorder": f"{_HERE}.structure:Basic_Recorder"},
    "utils.hire_agent": {
        "Agent": f"{_HERE}.agent:Agent",
        "Embedding": f"{_HERE}.embedding:Embedding",
    },
    "logger": {"get_logger": "logging:getLogger"},
    "langchain_chroma": _CHROMA,
    "langchain_community.vectorstores": _CHROMA,
    "langchain.vectorstores": _CHROMA,
    "langchain_core.documents": _DOCUMENT,
    "langchain.docstore.document": _DOCUMENT,
    "langchain.schema": _DOCUMENT,
}
_INSTEAD = {
    "openai": "ask a model through utils.hire_agent.Agent",
    "langchain_openai": "ask a model through utils.hire_agent.Agent",
    "dotenv": "no key or environment reaches a design",
    "chromadb": "use langchain_chroma.Chroma",
    "scipy": "numpy is there",
    "sklearn": "numpy is there",
}


def provide(named: set[str], filename: str) -> None:
    """Let a design import the stand-ins that it names, and tell it clearly what there is not."""
    for name, contents in _STAND_INS.items():
        if name not in named:
            continue
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            _module(".".join(parts[:end]))
        for attribute, place in contents.items():
            module, _, what = place.partition(":")
            setattr(sys.modules[name], attribute, getattr(import_module(module), what))
    sys.meta_path.append(_Refusal(filename))  # asked last: only what nobody else has


def _module(name: str) -> None:
    if name in sys.modules:
        return
    module = ModuleType(name, "A stand-in for designs that were written for ALMA.")
    module.__path__ = []  # so that what it lacks is refused in our words
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)


def modules_named(nodes: Iterable[ast.AST]) -> set[str]:
    """The modules that a source names in its imports, wherever they stand in it."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


class _Refusal:
    """Says what a design cannot have. Libraries that look for optional parts are left alone."""

    def __init__(self, filename: str) -> None:
        self._filename = filename

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not self._design_asks(sys._getframe(1)):
            return None
        instead = _INSTEAD.get(name.partition(".")[0])
        hint = instead or "a design has the standard library, numpy, networkx and ALMA's helpers"
        raise ModuleNotFoundError(f"{name} is not available in a jailed design: {hint}", name=name)

    def _design_asks(self, frame: FrameType | None) -> bool:
        while frame is not None and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        return frame is not None and frame.f_code.co_filename == self._filename
