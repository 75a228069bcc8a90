"""What was measured is kept in a file of lines, so that whoever is stopped goes on where it was."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.foundry.agent import Done
from bench.foundry.arms import Pair


class Kept:
    """Results by a key that says all that they hang on. Without a file nothing is kept."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known: dict[str, Any] = {}
        if path is not None and path.exists():
            for line in path.read_text().splitlines():
                entry = json.loads(line)
                self._known[entry["key"]] = entry["result"]

    def get(self, key: str) -> Any:
        """None where it is not known yet."""
        return self._known.get(key)

    def put(self, key: str, result: Any) -> None:
        self._known[key] = result
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a") as file:
                file.write(json.dumps({"key": key, "result": result}) + "\n")


def to_json(pair: Pair) -> dict[str, Any]:
    return asdict(pair)


def from_json(data: Mapping[str, Any]) -> Pair:
    off, on = (
        tuple(Done(**{**each, "failures": tuple(each["failures"])}) for each in data[arm])
        for arm in ("off", "on")
    )
    return Pair(data["seed"], off, on, tuple(data["deployed"]))
