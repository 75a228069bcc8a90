"""Amounts in words."""


def many(count: int, what: str, several: str = "") -> str:
    """So many of something: `1 session`, `2 sessions`."""
    return f"{count} {what}" if count == 1 else f"{count} {several or what + 's'}"
