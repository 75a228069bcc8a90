"""Making text fit a budget of tokens by leaving out, visibly, what lies in the middle."""

from collections.abc import Sequence

from metamem.core.tokens import count_tokens, truncate_tokens

INDENT = "    "
LEFT_OUT = "[... left out ...]"
_NOTE = count_tokens(LEFT_OUT)


def one_line(text: str) -> str:
    return " ".join(text.split())


def indented(text: str) -> str:
    """Text as a block that nothing in it can end: every line is moved in."""
    return "\n".join(INDENT + line for line in text.splitlines())


def fenced(text: str, language: str = "") -> str:
    """Text as it is, between fences longer than any in it."""
    longest = run = 0
    for letter in text:
        run = run + 1 if letter == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def shortened(text: str, tokens: int) -> str:
    """The text, or its beginning and its end where it is too long; nothing where not even that."""
    if count_tokens(text) <= tokens:
        return text
    room = tokens - _NOTE
    if room < 2:
        return LEFT_OUT if room >= 0 else ""
    head = _beginning(text, room - room // 2)
    tail = _beginning(text[::-1], room // 2)[::-1]  # a word counts the same backwards
    return f"{head} {LEFT_OUT} {tail}"


def _beginning(text: str, tokens: int) -> str:
    """A prefix that ends with a whole word, unless that word is all there is."""
    start, _, _ = truncate_tokens(text, tokens)
    within_a_word = text[len(start) :][:1].strip() and start
    return start.rsplit(maxsplit=1)[0] if within_a_word else start


def both_ends(pieces: Sequence[str], tokens: int) -> list[str]:
    """As many pieces from both ends in turn as fit, with a note where some are left out."""
    costs = [count_tokens(piece) for piece in pieces]
    if sum(costs) <= tokens:
        return list(pieces)
    left = tokens - _NOTE
    first = last = 0
    while left >= 0:
        front = first <= last
        left -= costs[first] if front else costs[-last - 1]
        if left >= 0:
            first, last = (first + 1, last) if front else (first, last + 1)
    note = [LEFT_OUT] if tokens >= _NOTE else []
    return [*pieces[:first], *note, *pieces[len(pieces) - last :]]


def first_that_fit(pieces: Sequence[str], tokens: int) -> list[str]:
    """The most important pieces, which come first, up to the first that does not fit."""
    kept: list[str] = []
    for piece in pieces:
        tokens -= count_tokens(piece)
        if tokens < 0:
            break
        kept.append(piece)
    return kept
