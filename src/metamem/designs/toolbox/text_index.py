"""Search by words: BM25 over an inverted index held in memory."""

import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from metamem.designs.toolbox.hit import Hit

_WORD = re.compile(r"\w+")
_SATURATION = 1.5  # how soon a repeated word stops adding to the score (k1)
_LENGTH_WEIGHT = 0.75  # how much long texts are held back (b)


def words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


class TextIndex:
    """Texts found by the words they share with a query; equal scores keep insertion order."""

    def __init__(self) -> None:
        self._entries: list[tuple[str, Any, int]] = []  # text, payload, length in words
        self._postings: dict[str, list[tuple[int, int]]] = {}  # word → (entry, count)
        self._length = 0

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, text: str, payload: Any = None) -> None:
        if not isinstance(text, str):
            raise TypeError(f"a text is needed, not {type(text).__name__}")
        counts = Counter(words(text))
        length = counts.total()
        for word, count in counts.items():
            self._postings.setdefault(word, []).append((len(self._entries), count))
        self._entries.append((text, payload, length))
        self._length += length

    def search(self, text: str, k: int = 5) -> list[Hit]:
        if k <= 0 or not self._length:
            return []
        total = len(self._entries)
        average = self._length / total
        scores: dict[int, float] = {}
        for word in dict.fromkeys(words(text)):
            postings = self._postings.get(word, ())
            rarity = math.log(1 + (total - len(postings) + 0.5) / (len(postings) + 0.5))
            for entry, count in postings:
                length = self._entries[entry][2]
                weight = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * length / average)
                gain = rarity * count * (_SATURATION + 1) / (count + weight)
                scores[entry] = scores.get(entry, 0.0) + gain
        ranked = sorted(scores.items(), key=lambda item: (-round(item[1], 9), item[0]))
        return [Hit(score, *self._entries[entry][:2]) for entry, score in ranked[:k]]

    def remove(self, predicate: Callable[[Hit], Any]) -> int:
        """Drop the entries for which the predicate holds (its score is 0); returns how many."""
        kept = [entry for entry in self._entries if not predicate(Hit(0.0, entry[0], entry[1]))]
        gone = len(self._entries) - len(kept)
        if gone:
            self._entries, self._postings, self._length = [], {}, 0
            for text, payload, _ in kept:
                self.add(text, payload)
        return gone
