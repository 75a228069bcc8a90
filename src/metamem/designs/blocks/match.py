"""match: which rows answer a question, and how well. `SUITS` says for what they are meant where
that matters: single words, or texts of several (see `keep`).
"""

import difflib

from metamem.designs import text
from metamem.designs.blocks.part import Part, Row


class Same(Part):
    """the key is the same"""

    SUITS = "word"

    async def match(self, asked: str) -> list[tuple[Row, float]]:
        key = self.key(asked)
        same = [about for about, own in self.keys().items() if own == key]
        return [(row, 1.0) for about in same for row in self.store[about].values()]


class Contains(Part):
    """one key has all words of the other"""

    SUITS = "text"

    async def match(self, asked: str) -> list[tuple[Row, float]]:
        wanted = set(self.key(asked).split())
        hits = []
        for about, key in self.keys().items():
            words = set(key.split())
            if wanted and words and (wanted <= words or words <= wanted):
                score = text.overlap(wanted, words)
                hits += [(row, score) for row in self.store[about].values()]
        return hits


class SharedWords(Part):
    """the keys share words"""

    SUITS = "text"
    SHARED = 0.3

    async def match(self, asked: str) -> list[tuple[Row, float]]:
        wanted = self.key(asked).split()
        hits = []
        for about, key in self.keys().items():
            score = text.overlap(wanted, key.split())
            if score >= self.SHARED:
                hits += [(row, score) for row in self.store[about].values()]
        return hits


class Nearest(Part):
    """the keys mean something similar: nearest by embedding"""

    NEAREST = 5
    FLOOR = 0.3

    async def match_prepare(self) -> None:
        for about in self.store:
            if ("nearest", about) not in self.indexed:
                self.indexed.add(("nearest", about))
                await self.tools.vectors(type(self).__name__).add(self.key(about), about)

    async def match(self, asked: str) -> list[tuple[Row, float]]:
        vectors = self.tools.vectors(type(self).__name__)
        hits = await vectors.search(self.key(asked), k=self.NEAREST, floor=self.FLOOR)
        return [
            (row, hit.score) for hit in hits for row in self.store.get(hit.payload, {}).values()
        ]


class Ranked(Part):
    """the keys share words that are rare elsewhere: best by BM25"""

    SUITS = "text"
    RANKED = 5

    async def match_prepare(self) -> None:
        for about in self.store:
            if ("ranked", about) not in self.indexed:
                self.indexed.add(("ranked", about))
                self.tools.text_index(type(self).__name__).add(self.key(about), about)

    async def match(self, asked: str) -> list[tuple[Row, float]]:
        hits = self.tools.text_index(type(self).__name__).search(self.key(asked), self.RANKED)
        return [
            (row, hit.score) for hit in hits for row in self.store.get(hit.payload, {}).values()
        ]


class Spelling(Part):
    """the keys are spelled alike"""

    SUITS = "word"
    ALIKE = 0.6

    async def match(self, asked: str) -> list[tuple[Row, float]]:
        hits = []
        matcher = difflib.SequenceMatcher(autojunk=False)
        matcher.set_seq2(self.key(asked)[:60])
        for about, key in self.keys().items():
            matcher.set_seq1(key[:60])
            if min(matcher.real_quick_ratio(), matcher.quick_ratio()) >= self.ALIKE:
                score = matcher.ratio()
                if score >= self.ALIKE:
                    hits += [(row, score) for row in self.store[about].values()]
        return hits


class Anything(Part):
    """everything kept answers every question"""

    async def match(self, asked: str) -> list[tuple[Row, float]]:
        return [(row, 1.0) for row in self.rows()]
