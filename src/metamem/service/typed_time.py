"""Dates and times as people and agents type them."""

from datetime import UTC, datetime

from metamem.core.errors import UsageError
from metamem.service.writing.fields import told


def before(text: str) -> int | None:
    """The last millisecond before a date or time that was typed."""
    at = moment(text)
    return None if at is None else at - 1


def moment(text: str) -> int | None:
    """Milliseconds of a date or time that was typed; UTC where it names no zone."""
    if not text:
        return None
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{told(text)} is no date", hint="such as 2026-11-18 or 2026-11-18T14:30"
        ) from None
    return int((read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp() * 1000)
