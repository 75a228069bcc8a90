"""What is handed in: a design's source and a note, bound to the request that it answers."""

import json
from dataclasses import asdict, dataclass

from metamem.core.errors import DataError
from metamem.core.types import Design
from metamem.search.novelty import syntax_key

SOURCE_BYTES = 200_000  # far more than anyone writes by hand
NOTE_LETTERS = 2_000
FILE_BYTES = 8 * SOURCE_BYTES  # of a submission as JSON, every letter escaped


@dataclass(frozen=True, slots=True)
class Submission:
    request: str  # see `Task.request`
    source: str
    note: str = ""

    @property
    def design(self) -> Design:
        return Design(self.source)

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self), ensure_ascii=False, indent=1).encode()

    @staticmethod
    def from_bytes(content: bytes) -> "Submission":
        """Anybody may have written it: whatever is not as it should be is a `DataError`."""
        try:
            data = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise DataError(f"the submission is not JSON: {error}") from error
        if not isinstance(data, dict) or set(data) != {"request", "source", "note"}:
            raise DataError("a submission has a request, a source and a note, and nothing else")
        if not all(isinstance(value, str) for value in data.values()):
            raise DataError("the request, source and note of a submission are text")
        source, note = checked_source(data["source"]), checked_note(data["note"])
        return Submission(data["request"], source, note)


def checked_source(given: str | bytes) -> str:
    """A design's source as text; a `DataError` where it cannot be one."""
    try:
        content = given.encode() if isinstance(given, str) else given
        source = content.decode("utf-8-sig")
    except UnicodeError as error:
        raise DataError(f"the design is not text in UTF-8: {error}") from error
    if len(content) > SOURCE_BYTES:
        raise DataError(f"the design is longer than {SOURCE_BYTES} bytes")
    if "\0" in source:
        raise DataError("the design is not text: it has a null character")
    if not source.strip():
        raise DataError("the design is empty")
    return source


def checked_note(given: str) -> str:
    note = given.encode("utf-8", "replace").decode().strip()
    if len(note) > NOTE_LETTERS:
        raise DataError(f"the note is longer than {NOTE_LETTERS} letters")
    return note


def parsed_key(source: str) -> str:
    """Equal for equal code (see `syntax_key`); a `DataError` where it is not Python."""
    try:
        return syntax_key(source)
    except (ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"this is not Python that can be read: {error}") from error
