"""What ALMA's designs are made of: the two base classes and the recorder."""

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Basic_Recorder:
    """One episode as ALMA's designs see it. Each call gets a recorder of its own."""

    init: dict[str, Any] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)
    reward: float = 0.0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    memory_retrieved: Any = field(default_factory=dict)

    async def log_init(self, **fields: Any) -> None:
        self.init = fields

    async def log_memo_retrieved(self, memory_retrieved: Any) -> None:
        self.memory_retrieved = memory_retrieved

    async def log_step(self, **fields: Any) -> None:
        self.steps.append(fields)

    async def set_reward(self, reward: float) -> None:
        self.reward = reward


@dataclass
class Sub_memo_layer(ABC):
    """A part of a structure, with its own store."""

    layer_intro: str = "What this layer stores, and how it is updated and retrieved."
    database: Any = None

    @abstractmethod
    async def retrieve(self, **kwargs: Any) -> Any: ...

    @abstractmethod
    async def update(self, **kwargs: Any) -> Any: ...


class MemoStructure(ABC):
    """ALMA's word for a memory."""

    def __init__(self) -> None:
        self.database: Any = None

    @abstractmethod
    async def general_retrieve(self, recorder: Basic_Recorder) -> Any: ...

    @abstractmethod
    async def general_update(self, recorder: Basic_Recorder) -> None: ...
