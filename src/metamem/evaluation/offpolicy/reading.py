"""Logs of decisions that another system made: one JSON object a line.

{"task": "...", "odds": {"a": 0.7, "b": 0.3}, "arm": "a", "success": 1, "cost": 0.1, "latency": 2.5}
"""

import json
from pathlib import Path

from metamem.core.errors import DataError, UsageError
from metamem.evaluation.offpolicy.judging import Entry
from metamem.routing import Context, Outcome

_FORM = '{"task": ..., "odds": {arm: propensity, ...}, "arm": ..., "success": ...}'


def read_log(path: Path) -> list[Entry]:
    """Every decision of a file, in its order; the first line that is none is refused."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    return [
        _entry(line, f"{path.name}, line {number}")
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]


def _entry(line: str, where: str) -> Entry:
    try:
        data = json.loads(line)
        arm = str(data["arm"])
        odds = {str(name): float(chance) for name, chance in data.get("odds", {}).items()}
        tags = {str(name): str(value) for name, value in data.get("tags", {}).items()}
        context = Context(str(data["task"]), str(data.get("seen", "")), tags)
        outcome = Outcome(
            float(data["success"]), float(data.get("cost", 0.0)), float(data.get("latency", 0.0))
        )
    except UsageError as error:
        raise DataError(f"{where}: {error.message}") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(f"{where} is no decision: {error}", hint=f"such as {_FORM}") from None
    if not odds:
        raise DataError(
            f"{where} has no propensities: what another policy would have brought cannot be said",
            hint=f"log the odds of every arm with the decision: {_FORM}",
        )
    return Entry(context, odds, arm, outcome)
