"""metamem: agent memory that learns its own design."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Loaded when first used: code inside the jail imports `metamem.designs` and nothing more.
_PUBLIC = {
    "Contender": "metamem.service.routing.words",
    "Design": "metamem.core.types",
    "Experience": "metamem.core.types",
    "Query": "metamem.core.types",
    "Step": "metamem.core.types",
    "across": "metamem.api",
    "across_async": "metamem.api",
    "connect": "metamem.service.connecting",
    "curve": "metamem.sweeps",
    "curve_async": "metamem.sweeps",
    "evaluate": "metamem.api",
    "evaluate_async": "metamem.api",
    "experiment": "metamem.experiments",
    "experiment_async": "metamem.experiments",
    "learn": "metamem.api",
    "learn_async": "metamem.api",
    "open_memory": "metamem.api",
    "open_memory_async": "metamem.api",
    "preset": "metamem.runs.parity",
    "read_episodes": "metamem.api",
    "transfer": "metamem.sweeps",
    "transfer_async": "metamem.sweeps",
}
__all__ = [*_PUBLIC]


def __dir__() -> list[str]:
    return [*globals(), *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'metamem' has no attribute {name!r}")
