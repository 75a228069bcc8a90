"""What is typed or piped in: text in UTF-8, and nothing else.

Bytes that are no UTF-8 arrive as halves of letters, which the rules of writing take out: half of a word
would be kept as if it had been said.
"""

import sys

from metamem.core.errors import UsageError

_HINT = "iconv -f latin1 -t utf8 makes it of Latin-1"


def check_text(text: str) -> str:
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise UsageError("what you gave is not text in UTF-8", hint=_HINT)
    return text


def stdin_text() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise UsageError(f"line {line} of stdin is not text in UTF-8", hint=_HINT) from None


def stdin_lines() -> list[str]:
    """Those with words in them."""
    return [line.strip() for line in stdin_text().split("\n") if line.strip()]
