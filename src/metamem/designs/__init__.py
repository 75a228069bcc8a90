"""What a design may use, and nothing else: a design starts with `from metamem.designs import ...`."""

from metamem.core.types import Experience, Message, Query, Step
from metamem.core.waiting import Wait
from metamem.designs.contract import Layer, Memory
from metamem.designs.toolbox import TOOLBOX_VERSION, Hit, Tools

__all__ = [
    "TOOLBOX_VERSION",
    "Experience",
    "Hit",
    "Layer",
    "Memory",
    "Message",
    "Query",
    "Step",
    "Tools",
    "Wait",
]
