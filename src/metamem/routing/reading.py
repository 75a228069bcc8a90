"""What other systems know of their routing, as files: one JSON object a line.

Rows say what every arm would have made of a task:

    {"task": "...", "outcomes": {"a": {"success": 1, "cost": 0.1, "latency": 2.5}, "b": {...}}}

A log says which arm was drawn, how likely each was, and what came of the one:

    {"task": "...", "odds": {"a": 0.7, "b": 0.3}, "arm": "a", "success": 1, "cost": 0.1, "latency": 2.5}
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from metamem.core.errors import DataError, UsageError
from metamem.core.texts import read_text
from metamem.routing.words import Arm, Context, Outcome

ROW = '{"task": ..., "outcomes": {arm: {"success": 1, "cost": 0.1}, ...}}'
DECISION = '{"task": ..., "odds": {arm: propensity, ...}, "arm": ..., "success": ...}'
_OUTCOME = ("success", "cost", "latency")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Row:
    """A task and what each arm would have made of it."""

    context: Context
    outcomes: Mapping[str, Outcome]


@dataclass(frozen=True, slots=True)
class Entry:
    """One decision of a log with its outcome."""

    context: Context
    odds: Mapping[str, float]
    arm: str
    outcome: Outcome
    priors: Mapping[str, Arm] = field(default_factory=dict)  # of arms, where something was said
    where: str = ""  # as the reader finds it again


def read_rows(path: Path) -> list[Row]:
    """Every row of a file, in its order; all must have the same arms."""
    rows: list[Row] = []
    for where, row in _read(path, "row with the outcomes of all arms", ROW, _row):
        if rows and row.outcomes.keys() != rows[0].outcomes.keys():
            raise DataError(f"{where} has other arms than the rows above")
        rows.append(row)
    return rows


def read_log(path: Path) -> list[Entry]:
    """Every decision of a file, in its order."""
    entries = [entry for _, entry in _read(path, "decision", DECISION, _entry)]
    if not entries:
        raise DataError(f"{path} has no decision", hint=f"a line is such as {DECISION}")
    return entries


def _read(
    path: Path, what: str, form: str, made: Callable[[Any, str], T]
) -> Iterator[tuple[str, T]]:
    """What each line that is not blank says, and where it stands. The first that is at fault is told."""
    lines = read_text(path).splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path.name}, line {number}"
        try:
            data = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{where} is no {what}: {error}", hint=f"such as {form}") from None
        if not isinstance(data, dict):
            raise DataError(f"{where} is no {what}, but no object at all", hint=f"such as {form}")
        try:
            yield where, made(data, where)
        except UsageError as error:
            hint = error.hint or f"a {what} is such as {form}"
            raise DataError(f"{where}: {error.message}", hint=hint) from None


def _row(data: Mapping[str, Any], where: str) -> Row:
    if "outcomes" not in data and "odds" in data:
        raise UsageError(
            "is a decision of a log, which says what came of one arm alone",
            hint="settings are learned from rows that say what every arm would have made of a task,"
            f" such as {ROW}; a log is judged with: metamem route evaluate --log FILE",
        )
    told = _object(_part(data, "outcomes"), "outcomes")
    outcomes = {arm: _outcome(_object(said, f"outcomes of {arm}")) for arm, said in told.items()}
    if len(outcomes) < 2:
        raise UsageError("has one arm only: there is nothing to choose")
    return Row(_context(data), outcomes)


def _entry(data: Mapping[str, Any], where: str) -> Entry:
    context, arm = _context(data), _text(_part(data, "arm"), "arm")
    outcome = _outcome({name: data[name] for name in _OUTCOME if name in data})
    odds = _object(data.get("odds") or {}, "odds")
    if not odds:
        raise UsageError(
            "has no propensities: what another policy would have brought cannot be said",
            hint=f"log the odds of every arm with the decision: {DECISION}",
        )
    chances = {name: _number(chance, f"odds of {name}") for name, chance in odds.items()}
    return Entry(context, chances, arm, outcome, where=where)


def _context(data: Mapping[str, Any]) -> Context:
    tags = _object(data.get("tags", {}), "tags")
    return Context(
        _text(_part(data, "task"), "task"),
        _text(data.get("seen", ""), "seen"),
        {name: str(value) for name, value in tags.items()},
    )


def _outcome(told: Mapping[str, Any]) -> Outcome:
    if unknown := sorted(told.keys() - set(_OUTCOME)):
        raise UsageError(f"has an outcome with {unknown[0]!r}: known are {', '.join(_OUTCOME)}")
    _part(told, "success")
    return Outcome(**{name: _number(value, name) for name, value in told.items()})


def _part(data: Mapping[str, Any], name: str) -> Any:
    if name not in data:
        raise UsageError(f"does not say {name!r}")
    return data[name]


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise UsageError(f"says {name!r} with {value!r}: it must be a text")
    return value


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"says {name!r} with {value!r}: it must be an object of names and values")
    return value


def _number(value: Any, name: str) -> float:
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    raise UsageError(f"says {name!r} with {value!r}: it must be a finite number")
