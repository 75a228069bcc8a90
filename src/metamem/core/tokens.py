"""A token count that needs no tokenizer and is the same everywhere.

An estimate: words cost one token for each started six letters, every other visible character
costs one. On English game text it lies within about a tenth of common byte-pair tokenizers.
"""

import re

_PIECE = re.compile(r"\w{1,6}|[^\w\s]")


def count_tokens(text: str) -> int:
    return len(_PIECE.findall(text))


def truncate_tokens(text: str, limit: int) -> tuple[str, int, bool]:
    """The longest prefix within `limit` tokens, its count, and whether anything was cut."""
    count = 0
    for piece in _PIECE.finditer(text):
        count += 1
        if count > limit:
            return text[: piece.start()].rstrip(), limit, True
    return text, count, False
