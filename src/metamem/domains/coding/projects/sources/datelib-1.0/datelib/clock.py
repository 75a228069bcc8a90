"""Times of day and offsets, in minutes."""

DAY = 24 * 60


def parse_time(text: str) -> int:
    """Minutes since midnight of 14:05, 2:05 pm or 2 pm."""
    text = text.strip().lower()
    half = text[-2:] if text.endswith(("am", "pm")) else ""
    hours, _, minutes = text.removesuffix(half).strip().partition(":")
    hour, minute = int(hours), int(minutes or 0)
    if half:
        if hour < 1 or hour > 12:
            raise ValueError(f"no such time: {text}")
        hour = hour % 12 + (12 if half == "pm" else 0)
    if hour > 23 or minute > 59:
        raise ValueError(f"no such time: {text}")
    return hour * 60 + minute


def format_time(minutes: int) -> str:
    minutes = minutes % DAY
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def parse_offset(text: str) -> int:
    """Minutes ahead of UTC of Z, +02:00 or -0530."""
    text = text.strip().upper()
    if text in ("Z", "UTC"):
        return 0
    sign = -1 if text[0] == "-" else 1
    digits = text[1:].replace(":", "")
    return sign * (int(digits[:2]) * 60 + int(digits[2:] or 0))


def to_utc(minutes: int, offset: int) -> tuple[int, int]:
    """The time in UTC, and by how many days the date moves."""
    moved = minutes - offset
    return moved % DAY, moved // DAY


def convert(minutes: int, source: int, target: int) -> int:
    """A time in one zone as the time in another."""
    return (minutes - source + target) % DAY


def duration(start: int, end: int) -> int:
    """Minutes from one time to another, over midnight if need be."""
    return (end - start) % DAY


def spell(minutes: int) -> str:
    if minutes < 0:
        raise ValueError("a duration is not negative")
    hours, rest = minutes // 60, minutes % 60
    if hours == 0:
        return f"{rest} min"
    if rest == 0:
        return f"{hours} h"
    return f"{hours} h {rest} min"
