"""What a measure finds, and why one may refuse to look."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from metamem.core.types import Design, Evaluation
from metamem.designs import library
from metamem.runs.experiments.power import Power


class Refusal(Exception):
    """Nothing was played: it could not have shown anything, or may not be asked yet."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What will be played, in words, and what that could show."""

    plays: str
    power: Power


@dataclass(frozen=True, slots=True)
class Outcome:
    passed: bool
    reason: str
    result: Mapping[str, Any]
    power: tuple[Power, ...]
    warnings: tuple[str, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that a hypothesis is about."""

    name: str
    design: str
    human: bool

    @staticmethod
    def of(named: Mapping[str, Design]) -> "list[Candidate]":
        return [Candidate(n, d.id, n in library.names()) for n, d in named.items()]


def silent(names: Mapping[str, str], played: Mapping[str, Evaluation]) -> tuple[str, ...]:
    """Memories that never said a word, by name: what was played with them is nobody's memory."""
    return tuple(
        f"{name} never said anything: no case was played with its advice"
        for name, design in names.items()
        if not any(row.advice_tokens for row in played[design].rows)
    )


def too_few(tasks: int, fewest: int) -> None:
    if tasks < fewest:
        raise Refusal(f"{tasks} tasks can prove nothing, whatever comes of them: it takes {fewest}")


def parted(words: Sequence[str]) -> str:
    return "; ".join(words)
