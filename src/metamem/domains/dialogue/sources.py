"""Where conversations come from, and which split has which."""

import hashlib
import random
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from metamem.core.errors import UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.domains.base import Sizes
from metamem.domains.dialogue import generator, locomo
from metamem.domains.dialogue.conversation import Conversation


class Source(Protocol):
    @property
    def version(self) -> str: ...

    def describe(self) -> str: ...

    def groups(self, split: str) -> tuple[str, ...]:
        """The ids of a split's conversations."""
        ...

    def further(self, number: int) -> tuple[str, ...]:
        """Those of train beyond the ones that it has, at most so many."""
        ...

    def conversation(self, group: str) -> Conversation: ...


class Generated:
    """Own conversations; shift has other topics and is longer."""

    def __init__(self, sizes: Sizes, seed: int) -> None:
        self._sizes, self._seed = asdict(sizes), seed
        self._made = lru_cache(maxsize=64)(self._make)

    @property
    def version(self) -> str:
        return content_id("dialogue", generator.VERSION, self._seed, self._sizes)

    def describe(self) -> str:
        return "generated"

    def groups(self, split: str) -> tuple[str, ...]:
        return tuple(f"{split}-{number:02d}" for number in range(self._sizes[split]))

    def further(self, number: int) -> tuple[str, ...]:
        first = self._sizes["train"]
        return tuple(f"train-{n:02d}" for n in range(first, first + number))

    def conversation(self, group: str) -> Conversation:
        return self._made(group)

    def _make(self, group: str) -> Conversation:
        split, _, number = group.rpartition("-")
        return generator.generate(self._seed, split, int(number))


class Locomo:
    """Conversations from a file in the format of LoCoMo; shift has the longest fifth."""

    def __init__(self, path: Path, sizes: Sizes, seed: int) -> None:
        conversations = locomo.load(path)
        if len(conversations) < 5:
            raise UsageError(
                f"{path} has {len(conversations)} conversations; the four splits need at least 5"
            )
        self._name = path.name
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        self._conversations = {c.id: c for c in conversations}
        lengths = {c.id: sum(len(s.lines) for s in c.sessions) for c in conversations}
        order = sorted(self._conversations, key=lambda c: (-lengths[c], c))
        longest, rest = order[: len(order) // 5], sorted(order[len(order) // 5 :])
        random.Random(derive_seed("locomo", seed)).shuffle(rest)
        third, half = len(rest) * 3 // 8, len(rest) * 5 // 8
        parts = {
            "train": rest[:third],
            "valid": rest[third:half],
            "test": rest[half:],
            "shift": longest,
        }
        self._splits = {split: tuple(parts[split][:size]) for split, size in asdict(sizes).items()}
        self.version = content_id("dialogue", digest, self._splits)

    def describe(self) -> str:
        return f"{len(self._conversations)} conversations from {self._name}"

    def groups(self, split: str) -> tuple[str, ...]:
        return self._splits[split]

    def further(self, number: int) -> tuple[str, ...]:
        return ()  # the splits have them all

    def conversation(self, group: str) -> Conversation:
        return self._conversations[group]
