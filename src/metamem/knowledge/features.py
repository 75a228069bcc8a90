"""What speaks for a piece as the answer to a question, as numbers that a ranker weighs.

Nothing here says what kind of piece it is: which kind is wanted, only the asker knows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metamem.core.protocols import Embedder
from metamem.knowledge import lexical
from metamem.knowledge.lexical import Floats, Ints, Term
from metamem.knowledge.snapshot import Snapshot
from metamem.knowledge.words import (
    CALLS,
    CODE,
    FIELDS,
    NAME,
    PLACE,
    SIGNATURE,
    Question,
    plain_words,
)

NAMES = (
    *(f"covered_{field}" for field in FIELDS),  # share of what is asked, rare words counting more
    *("name_precise", "place_precise", "signature_precise"),  # share of that field that is asked
    *("covered", "covered_body", "matched", "rarest", "first_name"),
    *("lexical", "lexical_share", "lexical_full", "lexical_rank"),
    *("meaning", "meaning_gap", "meaning_rank"),
    *("asked", "rarity", "rarity_mean"),
    *("code_length", "calls_length", "signature_length", "name_length"),
    *("file_best", "file_count"),  # of the candidates in the same file
    *("words_near", "name_near"),  # how near the nearest words of the name and the question are
)
_BODY = np.uint8(0b1111000)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pieces that may answer, with what was found out on the way to them."""

    asked: Question
    terms: list[Term]
    rows: Ints
    words: Floats  # relevance by words
    near: Floats  # cosines; zero where nothing is known of meaning
    names: Sequence[str]
    speller: Embedder | None  # of single words; None where meanings are not looked at


def features(snapshot: Snapshot, found: Candidates) -> Floats:
    """A row for each candidate, a column for each of NAMES."""
    rows, terms = found.rows, found.terms
    fields, _ = lexical.seen(snapshot, terms, rows)
    rarity = np.array([term.rarity for term in terms], np.float32)
    total = np.float32(max(float(rarity.sum()), 1e-6))
    lengths = snapshot.lengths[rows]
    there = fields > 0
    columns: list[NDArray[np.generic] | float] = []
    standing = [
        ((fields >> np.uint8(field)) & 1).astype(np.float32) for field in range(len(FIELDS))
    ]
    columns += [hit @ rarity / total for hit in standing]
    columns += [
        standing[field].sum(1) / np.maximum(lengths[:, field], 1)
        for field in (NAME, PLACE, SIGNATURE)
    ]
    columns += [
        there @ rarity / total,
        ((fields & _BODY) > 0) @ rarity / total,
        there.sum(1) / max(len(found.asked.terms), 1),
        (there * rarity).max(1, initial=0),
        standing[NAME][:, 0] if len(terms) else 0.0,
    ]
    best = max(float(found.words.max(initial=0)), 1e-6)
    columns += [found.words, found.words / best, found.words / total, _ranked(found.words)]
    meant = bool(found.near.any())
    columns += [
        found.near,
        found.near - found.near.max(initial=-1) if meant else 0.0,
        _ranked(found.near) if meant else 0.0,
    ]
    columns += [float(len(found.asked.terms)), float(total), float(total) / max(len(terms), 1)]
    columns += [
        np.log1p(lengths[:, CODE] + lengths[:, CALLS]),
        np.log1p(lengths[:, CALLS]),
        lengths[:, SIGNATURE],
        lengths[:, NAME],
    ]
    _, file = np.unique(snapshot.files[rows], return_inverse=True)
    of_file = np.zeros(len(rows), np.float32)
    np.maximum.at(of_file, file, found.words)
    columns += [of_file[file] / best, np.bincount(file)[file] if len(rows) else 0.0]
    columns += _by_word(found)
    made = np.zeros((len(rows), len(NAMES)), np.float32)
    for number, column in enumerate(columns):
        made[:, number] = column
    return made


def _ranked(values: Floats) -> Floats:
    """1 for the highest, 1/2 for the next, and so on."""
    places = np.empty(len(values), np.float32)
    places[np.argsort(-values, kind="stable")] = np.arange(1, len(values) + 1)
    return (1 / places).astype(np.float32)


def _by_word(found: Candidates) -> list[NDArray[np.generic] | float]:
    asked = plain_words(found.asked.text)
    if found.speller is None or not asked:
        return [0.0, 0.0]
    parts = [plain_words(name) for name in found.names]
    every = list(dict.fromkeys(word for words in parts for word in words))
    if not every:
        return [0.0, 0.0]
    number = {word: n for n, word in enumerate(every)}
    alike = found.speller.embed(asked) @ found.speller.embed(every).T
    near, back = np.zeros(len(parts), np.float32), np.zeros(len(parts), np.float32)
    for row, words in enumerate(parts):
        if words:
            part = alike[:, [number[word] for word in words]]
            near[row], back[row] = part.max(1).mean(), part.max(0).mean()
    return [near, back]
