"""Search in one index: candidates by words and by meaning, then their order."""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from metamem.core import registry
from metamem.core.errors import MetamemError, UsageError
from metamem.core.protocols import Embedder
from metamem.knowledge import lexical, place, ranker, snapshot
from metamem.knowledge.database import Database
from metamem.knowledge.embedding import identity
from metamem.knowledge.features import Candidates, features
from metamem.knowledge.lexical import Floats, Ints
from metamem.knowledge.pieces import KINDS, qualified
from metamem.knowledge.words import Question, question
from metamem.models.embedding_cache import CachedEmbedder

BY_WORDS, BY_MEANING = 150, 75  # candidates
NEAR = 0.2  # the cosine from which on something may be meant that has none of the words
MOST = 100  # hits
LONGEST = 2000  # letters of a question


@dataclass(frozen=True, slots=True)
class Wanted:
    """What may be found at all; nothing said means everything."""

    kinds: tuple[str, ...] = ()
    path: str = ""  # a pattern with * and ?
    language: str = ""

    def __post_init__(self) -> None:
        for kind in self.kinds:
            if kind not in KINDS:
                raise UsageError(f"no kind called {kind!r}", hint=f"known: {', '.join(KINDS)}")


ANYTHING = Wanted()


@dataclass(frozen=True, slots=True)
class Found:
    """A piece of an index, as people and agents see it."""

    index: str
    id: int
    kind: str
    name: str  # with what it stands in
    path: str
    line: int
    end: int
    language: str
    root: str
    stale: bool  # the file was written to since it was indexed, or is gone
    text: str
    score: float = 0.0
    matched: tuple[str, ...] = ()  # terms of the question that stand in it

    @property
    def file(self) -> Path:
        return Path(self.root) / self.path

    def begun(self, lines: int | None) -> str:
        """The text, or its first lines and how many more there are."""
        parts = self.text.split("\n")
        if lines is None or len(parts) <= lines + 1:
            return self.text
        return "\n".join([*parts[:lines], f"… {len(parts) - lines} more lines"])


class Index:
    """An index, opened to be asked. It answers from one state; open it anew to see what changed."""

    def __init__(self, store: Path, name: str) -> None:
        folder = place.folder_of(store, name)
        self.name = name
        self._database = Database(folder)
        try:
            self.snapshot = snapshot.opened(folder, self._database)
        except BaseException:
            self._database.close()
            raise
        self._roots = {
            number: str(root if root.is_dir() else root.parent)
            for number, root in self._database.roots().items()
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._database.close()

    def warning(self, embedder: Embedder | None) -> str:
        """Why a search does without meaning, though an embedder is there; nothing where it does not."""
        made_by = self._database.about("embedder")
        if embedder is None or not len(self.snapshot) or self._meant(embedder):
            return ""
        if not made_by:
            return (
                f"{self.name} has no vectors; metamem knowledge index --name {self.name} makes them"
            )
        if made_by != identity(embedder):
            return (
                f"{self.name} was embedded by {made_by}, and the embedder is {identity(embedder)} now:"
                f" only words count until it is made anew: metamem knowledge index --name {self.name}"
            )
        return (
            f"some vectors of {self.name} are missing: metamem knowledge index --name {self.name}"
        )

    def _meant(self, embedder: Embedder | None) -> bool:
        return embedder is not None and self.snapshot.embedder == identity(embedder)

    def search(
        self,
        text: str,
        limit: int = 10,
        embedder: Embedder | None = None,
        wanted: Wanted = ANYTHING,
    ) -> list[Found]:
        """The pieces that answer best, the best first; none where nothing has to do with it."""
        if not text.strip():
            raise UsageError("an empty question finds nothing", hint="say what is looked for")
        if not 1 <= limit <= MOST:
            raise UsageError(f"from 1 to {MOST} pieces can be asked for, not {limit}")
        found, scores = self.ranked(text, embedder, wanted)
        order = np.argsort(-scores, kind="stable")[:limit]
        chosen = found.rows[order]
        rising = np.argsort(chosen)
        fields, _ = lexical.seen(self.snapshot, found.terms, chosen[rising])
        hits = self.told(self.snapshot.ids[chosen])
        matched = {int(row): n for n, row in enumerate(chosen[rising])}
        return [
            Found(
                **{name: getattr(hit, name) for name in _PLAIN},
                score=round(float(score), 4),
                matched=tuple(
                    term.text
                    for term, at in zip(found.terms, fields[matched[int(row)]], strict=True)
                    if at
                ),
            )
            for hit, row, score in zip(hits, chosen, scores[order], strict=True)
        ]

    def ranked(
        self, text: str, embedder: Embedder | None = None, wanted: Wanted = ANYTHING
    ) -> tuple[Candidates, Floats]:
        """What may answer a question, and how well each does."""
        found = self.candidates(text, embedder, wanted)
        return found, ranker.shipped().score(features(self.snapshot, found))

    def numbers(self, terms: Iterable[str]) -> dict[str, int]:
        """The numbers of those terms that stand anywhere."""
        return self._database.numbers(terms)

    def texts(self) -> list[str]:
        """The texts of all pieces, a row each as in the snapshot."""
        files = dict.fromkeys(self.snapshot.files.tolist())
        return [text for file in files for text in self._database.texts(file)]

    def candidates(
        self, text: str, embedder: Embedder | None = None, wanted: Wanted = ANYTHING
    ) -> Candidates:
        """What may answer a question, before it is put into an order."""
        asked = question(text[:LONGEST])
        terms = lexical.found_terms(self.snapshot, self.numbers(asked.terms))
        words = lexical.scored(self.snapshot, terms)
        near = self._near(asked, embedder)
        allowed = self._allowed(wanted)
        if allowed is not None:
            words[~allowed] = 0
            near[~allowed] = 0
        by_words = lexical.best(words, BY_WORDS)
        by_meaning = lexical.best(np.where(near >= NEAR, near, 0), BY_MEANING)
        rows = np.union1d(by_words, by_meaning).astype(np.int64)
        speller = _speller() if self._meant(embedder) else None
        return Candidates(asked, terms, rows, words[rows], near[rows], self._names(rows), speller)

    def _names(self, rows: Ints) -> list[str]:
        ids = self.snapshot.ids[rows].tolist()
        marks = ", ".join("?" * len(ids))
        found = self._database.execute(f"SELECT id, name FROM pieces WHERE id IN ({marks})", ids)
        names = dict(found)
        return [names.get(number, "") for number in ids]

    def _near(self, asked: Question, embedder: Embedder | None) -> Floats:
        if embedder is None or not self._meant(embedder):
            return np.zeros(len(self.snapshot), np.float32)
        vector = embedder.embed([asked.text])[0].astype(np.float32)
        length = float(np.linalg.norm(vector))
        made: Floats = self.snapshot.vectors @ (vector / max(length, 1e-9))
        return made

    def _allowed(self, wanted: Wanted) -> NDArray[np.bool_] | None:
        allowed = None
        if wanted.kinds:
            allowed = np.isin(self.snapshot.kinds, [KINDS.index(kind) for kind in wanted.kinds])
        if wanted.path or wanted.language:
            rows = self._database.execute(
                "SELECT id FROM files WHERE path GLOB ? AND (? = '' OR language = ?)",
                (_glob(wanted.path or "*"), wanted.language, wanted.language),
            )
            there = np.isin(self.snapshot.files, [row[0] for row in rows])
            allowed = there if allowed is None else allowed & there
        return allowed

    # --- components by name ------------------------------------------------------------------

    def find(self, name: str = "*", wanted: Wanted = ANYTHING, limit: int = MOST) -> list[Found]:
        """Components by name: whole, with what it stands in, or a pattern with * and ?. Whole names
        in the same case come first, then those that come first in the alphabet."""
        return self.told([row[-1] for row in self.fitting(name, wanted, limit)])

    def fitting(self, name: str, wanted: Wanted, limit: int) -> list[tuple[Any, ...]]:
        """What a search by name finds: what it is put into order by, and last the piece's number."""
        kinds = wanted.kinds or tuple(kind for kind in KINDS if kind != "block")
        dotted = "." in name
        return self._database.execute(
            "SELECT ? NOT IN (name, whole), lower(whole), whole, path, line, id FROM ("
            " SELECT p.id, p.name, p.line, f.path, CASE WHEN p.within = '' THEN p.name ELSE"
            " p.within || CASE p.kind WHEN 'section' THEN ' > ' ELSE '.' END || p.name END AS whole"
            " FROM pieces p JOIN files f ON f.id = p.file"
            f" WHERE p.kind IN ({', '.join('?' * len(kinds))})"
            " AND f.path GLOB ? AND (? = '' OR f.language = ?))"
            f" WHERE lower({'whole' if dotted else 'name'}) GLOB ?"
            " ORDER BY 1, 2, 3, 4, 5 LIMIT ?",
            (
                *(name, *kinds, _glob(wanted.path or "*"), wanted.language, wanted.language),
                *(_glob(f"*{name}" if dotted else name, any_case=True), limit),
            ),
        )

    def named(self) -> list[tuple[int, str, str]]:
        """Every piece with a name: its number, its file, its name with what it stands in."""
        rows = self._database.execute(
            "SELECT p.id, f.path, p.kind, p.within, p.name FROM pieces p"
            " JOIN files f ON f.id = p.file WHERE p.name <> '' ORDER BY p.id"
        )
        return [(row[0], row[1], qualified(*row[2:])) for row in rows]

    def show(self, what: str) -> list[Found]:
        """Pieces by number, by PATH:LINE, by PATH, or by name."""
        if (number := counted(what)) is not None:
            return self.told([number])
        path, _, line = what.rpartition(":")
        at = (counted(line) if path else 0) or 0
        rows = self._database.execute(
            "SELECT p.id FROM pieces p JOIN files f ON f.id = p.file"
            " WHERE f.path = ? AND (? = 0 OR ? BETWEEN p.line AND f.lines)"
            " ORDER BY p.until >= ? DESC, p.line DESC",
            (path if at else what, at, at, at),
        )
        if rows:
            return self.told([row[0] for row in (rows[:1] if at else reversed(rows))])
        return self.find(what, limit=MOST)

    def told(self, ids: Sequence[int] | Ints) -> list[Found]:
        """Pieces by their numbers, in that order."""
        found, texts = [], dict[int, list[str]]()
        for number in ids:
            rows = self._database.execute(
                "SELECT p.id, p.kind, p.within, p.name, p.number, p.line, p.until, f.id, f.path,"
                " f.root, f.language, f.size, f.changed FROM pieces p JOIN files f ON f.id = p.file"
                " WHERE p.id = ?",
                (int(number),),
            )
            if not rows:
                continue
            row = rows[0]
            if row[7] not in texts:
                texts[row[7]] = self._database.texts(row[7])
            root = self._roots[row[9]]
            found.append(
                Found(
                    self.name,
                    id=row[0],
                    kind=row[1],
                    name=qualified(row[1], row[2], row[3]),
                    path=row[8],
                    line=row[5],
                    end=row[6],
                    language=row[10],
                    root=root,
                    stale=_stale(Path(root) / row[8], row[11], row[12]),
                    text=texts[row[7]][row[4]],
                )
            )
        return found


def counted(text: str) -> int | None:
    """The number that a text is; none where it is anything else, or larger than anything is counted."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _DIGITS else None


_DIGITS = 15
_PLAIN = ("index", "id", "kind", "name", "path", "line", "end", "language", "root", "stale", "text")


def _stale(file: Path, size: int, changed: int) -> bool:
    try:
        now = file.stat()
    except OSError:
        return True
    return (now.st_size, now.st_mtime_ns) != (size, changed)


def _glob(pattern: str, *, any_case: bool = False) -> str:
    """A pattern as SQLite reads it, where * and ? stand for something and all else for itself. Its own
    lower() knows ASCII alone: of other letters every case is named."""
    return "".join(map(_in_any_case if any_case else _itself, pattern))


def _itself(letter: str) -> str:
    return "[[]" if letter == "[" else letter


def _in_any_case(letter: str) -> str:
    if letter.isascii():
        return _itself(letter.lower())
    forms = {letter, letter.lower(), letter.upper(), letter.title(), letter.upper().lower()}
    return f"[{''.join(sorted(form for form in forms if len(form) == 1))}]"


@cache
def _speller() -> Embedder | None:
    """For single words: the one that comes along, whatever embeds the pieces. It takes no time.
    Where it does not work, an index made by another is searched without it."""
    try:
        made: Embedder = registry.create("embedders", "wordllama")
    except MetamemError:
        return None
    return CachedEmbedder(made)


def search_all(
    store: Path,
    names: Sequence[str],
    text: str,
    limit: int = 10,
    embedder: Embedder | None = None,
    wanted: Wanted = ANYTHING,
) -> tuple[list[Found], list[str]]:
    """The best of several indexes, and what somebody should know of them."""
    found, warnings = [], []
    for name in names:
        with Index(store, name) as index:
            found += index.search(text, limit, embedder, wanted)
            if warning := index.warning(embedder):
                warnings.append(warning)
    found = sorted(found, key=lambda hit: -hit.score)[:limit]
    if found and not any(hit.matched for hit in found):
        warnings.append(
            "none of the words asked for stands in what is shown: it is near in meaning at best"
        )
    return found, warnings


def find_all(
    store: Path,
    names: Sequence[str],
    name: str = "*",
    wanted: Wanted = ANYTHING,
    limit: int = MOST,
) -> tuple[list[Found], bool]:
    """Components of several indexes by name, in one order, and whether there are more."""
    with ExitStack() as opened:
        indexes = [opened.enter_context(Index(store, each)) for each in names]
        rows = sorted(
            (row[:-1], at, row[-1])
            for at, index in enumerate(indexes)
            for row in index.fitting(name, wanted, limit + 1)
        )
        found = [hit for _, at, number in rows[:limit] for hit in indexes[at].told([number])]
        return found, len(rows) > limit
