"""Conversations with questions, as benches of recall use them, and a scope of one in memory."""

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from metamem.core.protocols import Embedder
from metamem.core.terms import terms
from metamem.service.recall.candidates import choose
from metamem.service.recall.catalog import Catalog, Floats, Hits, Ints, Posting, neighbours
from metamem.service.recall.features import features
from metamem.service.recall.lexical import search
from metamem.service.recall.question import Question, parse
from metamem.service.recall.ranker import Ranker
from metamem.service.recall.reading import Reader

CHOSEN_ON = ("conv-26", "conv-30", "conv-41")  # settings may be chosen on these; no others
KINDS = {1: "multi", 2: "temporal", 3: "open", 4: "single", 5: "adversarial"}
_LINE = re.compile(r"D:?(\d+):(\d+)")
_EMPTY = Posting(np.empty(0, np.int32), np.empty(0, np.int32))


@dataclass(frozen=True, slots=True)
class Spoken:
    """A line, or a fact that nobody spoke (session -1)."""

    author: str
    text: str
    session: int
    said_at: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the lines that answer it; none where nothing does."""

    text: str
    evidence: frozenset[int]
    kind: str
    now: int
    decoys: frozenset[int] = frozenset()  # lines that were written to be found by it


@dataclass(frozen=True, slots=True)
class Talk:
    name: str
    lines: tuple[Spoken, ...]
    questions: tuple[Asked, ...]


def milliseconds(day: datetime) -> int:
    return int(day.replace(tzinfo=UTC).timestamp() * 1000)


def locomo(path: Path | None = None, *, searched: bool = False) -> list[Talk]:
    """The conversations of LoCoMo with all questions that have evidence.

    Pictures stand in the text by their captions; `searched` adds the words by which they were
    looked for, which the file also holds.
    """
    file = path or Path(os.environ.get("METAMEM_DATA", "../shared/data")) / "locomo10.json"
    if not file.is_file():
        raise SystemExit(f"LoCoMo is not at {file}: METAMEM_DATA names the folder of locomo10.json")
    content = json.loads(file.read_text(encoding="utf-8"))
    return [_talk(sample, searched) for sample in content]


def _talk(sample: dict[str, Any], searched: bool) -> Talk:
    spoken = sample["conversation"]
    lines, ids, at = [], {}, 0
    for number in sorted(int(k[8:]) for k in spoken if re.fullmatch(r"session_\d+", k)):
        day = datetime.strptime(spoken[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        for turn in spoken[f"session_{number}"]:
            text = " ".join(turn["text"].split())
            if turn.get("blip_caption"):
                text += f" [image: {turn['blip_caption']}]"
            if searched and turn.get("query"):
                text += f" [{turn['query']}]"
            ids[turn["dia_id"]] = len(lines)
            at = milliseconds(day)
            lines.append(Spoken(turn["speaker"], text.strip(), number, at))
    questions = []
    for asked in sample["qa"]:
        named = (f"D{int(a)}:{int(b)}" for e in asked["evidence"] for a, b in _LINE.findall(e))
        evidence = frozenset(ids[name] for name in named if name in ids)
        if evidence:
            text = " ".join(str(asked["question"]).split())
            questions.append(Asked(text, evidence, KINDS[asked["category"]], at + 86_400_000))
    return Talk(sample["sample_id"], tuple(lines), tuple(questions))


class Scope:
    """One talk, indexed in memory as the service would index it in its database."""

    def __init__(self, lines: Sequence[Spoken], embedder: Embedder | None, reader: Reader) -> None:
        self.lines, self._embedder, self._reader = lines, embedder, reader
        postings: dict[str, dict[int, int]] = defaultdict(dict)
        counted = [terms(line.text) for line in lines]
        for n, counts in enumerate(counted):
            for term, often in counts.items():
                postings[term][n] = often
        self._postings = {
            term: Posting(np.array(list(at), np.int32), np.array(list(at.values()), np.int32))
            for term, at in postings.items()
        }
        self.catalog = _catalog(lines, [c.total() for c in counted])

    @cached_property
    def vectors(self) -> Floats | None:
        if self._embedder is None:
            return None
        return np.asarray(self._embedder.embed([line.text for line in self.lines]), np.float32)

    def posting(self, term: str) -> Posting:
        return self._postings.get(term, _EMPTY)

    def search(self, text: str, now: int) -> tuple[Question, Hits, Floats | None]:
        question = parse(text, now)
        hits = search(question, self.catalog, self.posting)
        dense = None
        if self._embedder is not None and self.vectors is not None:
            row = np.asarray(self._embedder.embed([question.meaning])[0], np.float32)
            dense = self.vectors @ row
        return question, hits, dense

    def rows(self, text: str, now: int) -> tuple[Ints, Floats]:
        """Candidates and their features."""
        question, hits, dense = self.search(text, now)
        chosen = choose(question, self.catalog, hits, dense)
        read = self._reader.read(question, [self.lines[i].text for i in chosen])
        return chosen, features(question, self.catalog, hits, dense, chosen, read)

    def shown(self, text: str, now: int, ranker: Ranker) -> list[int]:
        """The lines that would be shown, best first."""
        chosen, rows = self.rows(text, now)
        relevance = ranker.score(rows)
        seen = ranker.shown(rows, relevance)
        return [int(chosen[i]) for i in np.argsort(-relevance, kind="stable") if seen[i]]

    def ask(
        self, text: str, now: int, score: Callable[[Floats], Floats]
    ) -> list[tuple[int, float]]:
        """Lines with their scores, best first."""
        chosen, rows = self.rows(text, now)
        scores = score(rows)
        return [(int(chosen[i]), float(scores[i])) for i in np.argsort(-scores, kind="stable")]


def _catalog(lines: Sequence[Spoken], lengths: Sequence[int]) -> Catalog:
    count, names = len(lines), sorted({line.author for line in lines})
    session = np.array([line.session for line in lines], np.int32)
    position = np.arange(count, dtype=np.int32)
    before, after = neighbours(session, position)
    return Catalog(
        numbers=np.arange(count, dtype=np.int64),
        lengths=np.array(lengths, np.int32),
        said_at=np.array([line.said_at for line in lines], np.int64),
        meant_from=np.full(count, -1, np.int64),
        session=session,
        position=position,
        author=np.array([names.index(line.author) for line in lines], np.int32),
        authors=tuple(names),
        importance=np.full(count, 0.3, np.float32),
        type=np.zeros(count, np.int16),
        trust=np.full(count, 3, np.int8),
        quarantined=np.zeros(count, np.bool_),
        pinned=np.zeros(count, np.bool_),
        before=before,
        after=after,
    )


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares of evidence within the first places, and the mean of 1 / the first place of any."""

    count: int
    at_5: float
    at_10: float
    at_20: float
    mrr: float

    def __str__(self) -> str:
        return f"{self.at_5:.3f} {self.at_10:.3f} {self.at_20:.3f} {self.mrr:.3f}"


def figures(ranked: Sequence[tuple[Sequence[int], frozenset[int]]]) -> Figures:
    """From lines in their order and evidence, for each question."""
    at: dict[int, list[float]] = {5: [], 10: [], 20: []}
    first = []
    for lines, evidence in ranked:
        places = [n for n, line in enumerate(lines, 1) if line in evidence]
        for cut, shares in at.items():
            shares.append(sum(p <= cut for p in places) / len(evidence))
        first.append(1 / places[0] if places else 0.0)
    return Figures(len(ranked), *(float(np.mean(v)) for v in at.values()), float(np.mean(first)))
