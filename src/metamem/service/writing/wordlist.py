"""Lists of words, written as people read them."""


def listed(text: str) -> frozenset[str]:
    return frozenset(text.split())
