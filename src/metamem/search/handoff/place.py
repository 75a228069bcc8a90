"""The folder of a run's requests: one numbered folder each, and which of them wait for an answer.

    open.json            the numbers of the requests that wait
    0001/task.json       what is asked; dossier.md, manual.md, skill.md and parent.py beside it
    0001/submission.json what was handed in
    0001/refused.json    why the last thing handed in could not be used

Coding agents write here, so nothing that is read here is trusted.
"""

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from metamem.core.errors import DataError, MetamemError, StoreError, UsageError
from metamem.core.ids import content_id
from metamem.search.handoff import files
from metamem.search.handoff.submission import FILE_BYTES, Submission

TASK, SUBMISSION, REFUSED, OPEN, DESIGN = (
    "task.json",
    "submission.json",
    "refused.json",
    "open.json",
    "design.py",
)
TASK_BYTES = 1_000_000
MOST = 1_000_000  # requests of one run
_NUMBER = re.compile(r"\d{4,6}")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def run_folder(home: Path, run: str) -> Path:
    """Where a run's requests are. A run may be called anything, a folder may not."""
    name = run if _PLAIN.fullmatch(run) else content_id("run", run)
    return home / "handoff" / name


@dataclass(frozen=True, slots=True)
class Task:
    """One request, as its folder tells it."""

    number: int
    request: str  # a digest of what is asked: a submission answers this and nothing else
    parent: str = ""  # the id of the design that is to be changed
    failed: str = ""  # the id of the design that is to be repaired, where one is
    error: str = ""  # what went wrong with it
    copied: str = ""  # the id of the last answer, where that was a copy of a known design


class WorkFolder:
    """Reads and writes the folder of one run."""

    def __init__(self, folder: Path) -> None:
        self.root = folder

    def make(self) -> None:
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"the folder {self.root} cannot be made: {error.strerror}") from error

    def folder(self, number: int) -> Path:
        return self.root / f"{number:04d}"

    def _there(self, number: int) -> Path:
        if not 0 < number < MOST or not self.folder(number).exists():
            raise UsageError(f"there is no request {number}", hint="ask for the next one")
        return self.folder(number)

    # --- requests ----------------------------------------------------------------------------

    def numbers(self) -> list[int]:
        try:
            names = [entry.name for entry in self.root.iterdir()]
        except OSError:
            return []
        return sorted(int(name) for name in names if _NUMBER.fullmatch(name))

    def find(self, request: str) -> int | None:
        """The number of a request that was made before, by an earlier process perhaps."""
        for number in self.numbers():
            with suppress(MetamemError):  # somebody spoilt that folder: it is not this one
                if self.task(number).request == request:
                    return number
        return None

    def task(self, number: int) -> Task:
        data = _json(files.read(self._there(number), TASK, TASK_BYTES))
        kinds = {"number": int} | {f.name: str for f in fields(Task)[1:]}
        typed = all(type(data.get(name)) is kind for name, kind in kinds.items())
        if not typed or data["number"] != number:
            raise DataError(f"the task of request {number} was changed by somebody")
        return Task(**{name: data[name] for name in kinds})

    def write(self, task: Task, texts: Mapping[str, str]) -> None:
        """Make the folder of a request, all at once."""
        told = {**texts, TASK: json.dumps(asdict(task), ensure_ascii=False, indent=1) + "\n"}
        made = {name: text.encode("utf-8", "backslashreplace") for name, text in told.items()}
        files.make_folder(self.folder(task.number), made)

    def waiting(self) -> list[int]:
        """The requests that wait for an answer, oldest first."""
        return [n for n in self.open() if not self.answered(n)]

    def open(self) -> list[int]:
        """The requests whose answers are awaited, whether or not they are there yet."""
        try:
            data = _json(files.read(self.root, OPEN, TASK_BYTES))
        except MetamemError:
            return []
        found = data.get("open")
        return sorted(n for n in found if type(n) is int) if isinstance(found, list) else []

    def set_open(self, numbers: Iterable[int]) -> None:
        content = json.dumps({"open": sorted(numbers)}).encode()
        files.put(self.root, OPEN, content)

    # --- answers -----------------------------------------------------------------------------

    def answered(self, number: int) -> bool:
        with suppress(MetamemError):
            return files.read(self.folder(number), SUBMISSION, FILE_BYTES) is not None
        return False

    def submission(self, number: int) -> Submission | None:
        """What was handed in; a `DataError` where that is nothing that can be used."""
        content = files.read(self._there(number), SUBMISSION, FILE_BYTES)
        return None if content is None else Submission.from_bytes(content)

    def submit(self, number: int, submission: Submission) -> bool:
        """Hand in; False where somebody else was first."""
        return files.add(self._there(number), SUBMISSION, submission.to_bytes())

    def refuse(self, number: int, reason: str) -> None:
        """Take away what was handed in, and say why."""
        files.remove(self.folder(number), SUBMISSION)
        files.put(self.folder(number), REFUSED, json.dumps({"reason": reason}).encode())

    def refusal(self, number: int) -> str:
        with suppress(MetamemError):
            return str(_json(files.read(self.folder(number), REFUSED, TASK_BYTES)).get("reason"))
        return ""


def _json(content: bytes | None) -> dict[str, Any]:
    try:
        data = json.loads(content or b"")
    except (ValueError, RecursionError) as error:
        raise DataError(f"this is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise DataError("this is not a JSON object")
    return data
