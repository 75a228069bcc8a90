"""Is what is looked for found, and how quickly? Beside plain BM25 and a search like ripgrep's.

    python -m bench.knowledge [--questions N] [--quick] [--json]   quality, on three packages
    python -m bench.knowledge --speed [--lines N]                  speed, memory and disk

Quality: docstring → function, asked of packages without any docstring or comment; names of tests →
function, asked of packages as they are. All ways search the same pieces. Nothing was chosen by looking at
these packages: see `knowledge_sets.py` for those that settings were compared on and the ranker learned from.
Speed: what is installed beside the program, copied until it has so many lines.
"""

import argparse
import json
import re
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bench.knowledge_sets import (
    CHOSEN_ON,
    REPORTED,
    TESTED,
    TRAINED_ON,
    Asked,
    Form,
    folder_of,
    sample,
)
from bench.train_knowledge import indexed, rows_of
from metamem.core.protocols import Embedder
from metamem.knowledge import lexical
from metamem.knowledge.embedding import embedder_of
from metamem.knowledge.indexing import Indexer
from metamem.knowledge.lexical import Floats
from metamem.knowledge.pieces import KINDS
from metamem.knowledge.searching import ANYTHING, Index, Wanted
from metamem.knowledge.words import question

QUESTIONS = 250
FIRST, DEEP = 5, 100
FUNCTIONS = ("function", "method")  # what all answers are: the last two ways look at nothing else
K1, B = 1.2, 0.75  # of BM25, as usual
Way = Callable[[str], Floats]  # the score of every row for a question


@dataclass(frozen=True, slots=True)
class Line:
    """How one way does on one set."""

    package: str
    asked: str
    way: str
    questions: int
    mrr: float
    recall_5: float
    recall_100: float


class Bm25:
    """The usual formula over the texts of the pieces."""

    def __init__(self, texts: Sequence[str], cut: Callable[[str], list[str]]) -> None:
        self._cut, self._count = cut, len(texts)
        counted = [Counter(cut(text)) for text in texts]
        lengths = np.array([sum(each.values()) for each in counted], np.float32)
        long = 1 - B + B * lengths / max(float(lengths.mean()), 1)
        found: dict[str, list[tuple[int, int]]] = {}
        for row, words in enumerate(counted):
            for word, times in words.items():
                found.setdefault(word, []).append((row, times))
        self._worth = {}
        for word, postings in found.items():
            rows = np.array([row for row, _ in postings])
            times = np.array([count for _, count in postings], np.float32)
            rare = np.log(1 + (self._count - len(rows) + 0.5) / (len(rows) + 0.5))
            self._worth[word] = rows, rare * times * (K1 + 1) / (times + K1 * long[rows])

    def __call__(self, text: str) -> Floats:
        scores = np.zeros(self._count, np.float32)
        for word in dict.fromkeys(self._cut(text)):
            if word in self._worth:
                rows, worth = self._worth[word]
                scores[rows] += worth
        return scores


class Grep:
    """Pieces by how many words of the question stand in them, as one would with ripgrep and patience."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [text.lower() for text in texts]

    def __call__(self, text: str) -> Floats:
        words = dict.fromkeys(_simple(text))
        return np.array([sum(word in each for word in words) for each in self._texts], np.float32)


def _simple(text: str) -> list[str]:
    """Runs of letters and digits: low lines part words."""
    return re.findall(r"[a-z0-9]+", text.lower())


def _parted(text: str) -> list[str]:
    """What the index itself makes of words: humps part them, too; stems; no idle words."""
    return [term for word in re.findall(r"\w+", text) for term in question(word).terms]


def ways(index: Index, texts: Sequence[str]) -> dict[str, Way]:
    embedder = embedder_of("wordllama")
    assert embedder is not None
    everything = len(index.snapshot)

    def words_alone(text: str) -> Floats:
        terms = lexical.found_terms(index.snapshot, index.numbers(question(text).terms))
        return lexical.scored(index.snapshot, terms)

    def meaning_alone(text: str) -> Floats:
        return index.snapshot.vectors @ embedder.embed([text])[0] + 1

    def ranked(text: str, by: Embedder | None, wanted: Wanted = ANYTHING) -> Floats:
        scores = np.zeros(everything, np.float32)
        found, order = index.ranked(text, by, wanted)
        scores[found.rows] = order + 1e-6
        return scores

    plain = Bm25(texts, _simple)
    functions = np.isin(index.snapshot.kinds, [KINDS.index(kind) for kind in FUNCTIONS])
    return {
        "like ripgrep": Grep(texts),
        "BM25": plain,
        "BM25, parted, stems": Bm25(texts, _parted),
        "fields": words_alone,
        "meaning": meaning_alone,
        "metamem, no embedder": lambda text: ranked(text, None),
        "metamem": lambda text: ranked(text, embedder),
        "BM25, functions": lambda text: plain(text) * functions,
        "metamem, functions": lambda text: ranked(text, embedder, Wanted(FUNCTIONS)),
    }


def measured(package: str, form: Form, count: int) -> list[Line]:
    embedder = embedder_of("wordllama")
    assert embedder is not None
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        asked = [a for a in indexed(package, form, Path(folder), embedder) if not a.of_class]
        with Index(Path(folder) / "store", package) as index:
            rows = rows_of(index)
            texts = index.texts()
            known = [a for a in sample(asked, count) if any(each in rows for each in a.answers)]
            for name, way in ways(index, texts).items():
                ranks = np.array([_rank(way(each.text), each, rows) for each in known], float)
                lines.append(
                    Line(
                        package,
                        "docstrings" if form == "bare" else "tests",
                        name,
                        len(ranks),
                        float((1 / ranks).mean()),
                        float((ranks <= FIRST).mean()),
                        float((ranks <= DEEP).mean()),
                    )
                )
    return lines


def _rank(scores: Floats, asked: Asked, rows: dict[tuple[str, str], list[int]]) -> float:
    """The rank of the best answer; those with equal scores share their places."""
    best = max(scores[row] for answer in asked.answers for row in rows.get(answer, ()))
    if best <= 0:
        return float("inf")
    return float((scores > best).sum() + 1 + ((scores == best).sum() - 1) / 2)


def tell(lines: Sequence[Line]) -> None:
    print(f"reported: {', '.join(REPORTED)}; settings compared on: {', '.join(CHOSEN_ON)}")
    print(f"the ranker learned from those and: {', '.join(TRAINED_ON)}\n")
    for package, asked in dict.fromkeys((line.package, line.asked) for line in lines):
        mine = [line for line in lines if (line.package, line.asked) == (package, asked)]
        plain = next(line.mrr for line in mine if line.way == "BM25")
        print(f"{package}, {asked} → function, {mine[0].questions} questions")
        print(f"  {'':22}   MRR   × BM25   recall@{FIRST}   recall@{DEEP}")
        for line in mine:
            print(
                f"  {line.way:22} {line.mrr:.3f}   {line.mrr / plain:5.2f}    {line.recall_5:6.3f}"
                f"     {line.recall_100:6.3f}"
            )
        print()


# --- speed -----------------------------------------------------------------------------------


def corpus(folder: Path, lines: int) -> int:
    """Python files from beside the program, whole packages, until there are so many lines."""
    site = folder_of("numpy").parent
    reached = 0
    for number in range(100):
        for file in sorted(site.rglob("*.py")):
            content = file.read_bytes()
            to = folder / f"copy{number}" / file.relative_to(site)
            to.parent.mkdir(parents=True, exist_ok=True)
            if number:  # a copy is other code, as far as names go
                content = re.sub(rb"\b([a-z]{4,})_", rb"\g<1>%d_" % number, content)
            to.write_bytes(content)
            reached += content.count(b"\n")
            if reached >= lines:
                return reached
    return reached


def speed(lines: int) -> None:
    embedder = embedder_of("wordllama")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        count = corpus(folder / "code", lines)
        print(f"{count} lines from what is installed beside the program")
        began = _clock()
        report = Indexer(folder / "store").index("all", [folder / "code"])
        _told("indexed, words alone", report.read_bytes, began)
        shutil.rmtree(folder / "store")
        began = _clock()
        report = Indexer(folder / "store", embedder).index("all", [folder / "code"])
        _told("indexed, words and vectors", report.read_bytes, began)
        began = _clock()
        Indexer(folder / "store", embedder).index("all")
        print(f"looked through again, nothing changed: {time.perf_counter() - began[0]:.2f} s")
        first = next((folder / "code").rglob("*.py"))
        first.write_text("def changed(): ...\n")
        began = _clock()
        Indexer(folder / "store", embedder).index("all")
        print(f"one file changed: {time.perf_counter() - began[0]:.2f} s")
        disk = sum(f.stat().st_size for f in (folder / "store").rglob("*") if f.is_file())
        print(
            f"{report.lines} lines in {report.pieces} pieces of {report.read_bytes / 1e6:.0f} MB;"
            f" {disk / 1e6:.0f} MB on the disk"
        )
        print(f"most memory while indexing: {_peak():.0f} MB, and in a worker {_peak(True):.0f} MB")
        began = _clock()
        with Index(folder / "store", "all") as index:
            index.search("open the index", 10, embedder)
            print(f"opened, and asked for the first time: {time.perf_counter() - began[0]:.2f} s")
            for name, by in (("by words and meaning", embedder), ("by words alone", None)):
                _search_times(index, name, lambda text, by=by: index.search(text, 10, by))
        shutil.rmtree(folder / "store")


def _search_times(index: Index, name: str, ask: Callable[[str], object]) -> None:
    asked = [name.replace("_", " ").replace(".", " ") for _, _, name in index.named()]
    asked = [text for text in asked if 3 <= len(text.split()) <= 12]
    chosen = [asked[n] for n in np.random.default_rng(0).integers(0, len(asked), 300)]
    wall, processor = [], []
    for text in chosen:
        began = _clock()
        ask(text)
        wall.append(1000 * (time.perf_counter() - began[0]))
        processor.append(1000 * (time.process_time() - began[1]))
    print(
        f"search {name}, {len(chosen)} questions: p50 {np.percentile(wall, 50):.1f} ms,"
        f" p95 {np.percentile(wall, 95):.1f} ms"
        f" (processor: {np.percentile(processor, 50):.1f}, {np.percentile(processor, 95):.1f})"
    )


def _clock() -> tuple[float, float, float]:
    of = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter(), time.process_time(), of.ru_utime + of.ru_stime


def _told(what: str, size: int, began: tuple[float, float, float]) -> None:
    now = _clock()
    wall, processor = now[0] - began[0], now[1] - began[1] + now[2] - began[2]
    print(
        f"{what}: {wall:.1f} s, {size / 1e6 / wall:.1f} MB/s"
        f" ({processor:.1f} s of processors, {size / 1e6 / processor:.1f} MB/s on one)"
    )


def _peak(children: bool = False) -> float:
    who = resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF
    return resource.getrusage(who).ru_maxrss / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--quick", action="store_true", help="60 questions a set")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if chosen.speed:
        speed(chosen.lines)
        return 0
    count = 60 if chosen.quick else chosen.questions
    lines = [line for package in REPORTED for line in measured(package, "bare", count)]
    lines += [line for package in TESTED for line in measured(package, "whole", count)]
    if chosen.json:
        print(json.dumps([asdict(line) for line in lines], indent=1))
    else:
        tell(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
