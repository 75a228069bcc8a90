"""What speaks for a fact as an answer to a question, as numbers that the ranker can weigh.

They say how a fact stands among the others of its scope rather than how large a score is, so that
what was learned on one scope holds in another.
"""

from collections.abc import Iterator

import numpy as np

from metamem.core.terms import terms
from metamem.service.recall.candidates import beside, scaled, session_best
from metamem.service.recall.catalog import NONE, Catalog, Flags, Floats, Hits, Ints, Longs
from metamem.service.recall.marks import MARKS
from metamem.service.recall.question import ASKS, Question
from metamem.service.recall.reading import Readings

Column = tuple[str, Floats]
DAY = 86_400_000
_BITS = 60  # terms whose places are kept as bits of one number
NAMES = (
    "terms",
    "terms_full",
    "terms_rank",
    "terms_before",
    "terms_after",
    "terms_before_2",
    "terms_after_2",
    "terms_around_rank",
    "terms_wide_rank",
    "terms_wide",
    "terms_session",
    "terms_wide_session",
    "covered",
    "covered_before",
    "covered_after",
    "covered_around",
    "covered_wide",
    "covered_session",
    "matched",
    "rarest",
    "asked_terms",
    "known_terms",
    "best_terms",
    "matter",
    "matter_around",
    "named",
    "known_names",
    "meaning",
    "meaning_scaled",
    "meaning_rank",
    "meaning_before",
    "meaning_after",
    "meaning_session",
    "words",
    "words_before",
    "words_after",
    "words_rank",
    "words_sharp",
    "words_unlike",
    "words_back",
    "words_least",
    "gist",
    "gist_rank",
    "focus",
    "phrases",
    "echo",
    "pile",
    "said_by",
    "persons",
    "line_asks",
    "line_when",
    "line_number",
    "line_self",
    "line_names",
    "line_place",
    "line_length",
    "line_chatter",
    "line_repeats",
    "line_listed",
    "before_asks",
    "before_length",
    "asks_when",
    "asks_how_long",
    "asks_how_many",
    "asks_where",
    "asks_who",
    "asks_why",
    "asks_how",
    "asks_what",
    "asks_yes_no",
    "position",
    "age",
    "in_time",
)


def features(
    question: Question,
    catalog: Catalog,
    hits: Hits,
    dense: Floats | None,
    chosen: Ints,
    readings: Readings,
) -> Floats:
    """A row for each chosen fact, a column for each of NAMES. `readings` are of the chosen texts."""
    if not len(chosen):
        return np.zeros((0, len(NAMES)), np.float32)
    columns = list(_columns(question, catalog, hits, dense, chosen, readings))
    return np.stack([values for _, values in columns], axis=1).astype(np.float32)


def _columns(
    question: Question,
    catalog: Catalog,
    hits: Hits,
    dense: Floats | None,
    chosen: Ints,
    readings: Readings,
) -> Iterator[Column]:
    near = _Near(catalog, chosen)
    yield from _by_terms(question, catalog, hits, chosen, near)
    yield from _by_meaning(dense, catalog, chosen, near)
    yield from _by_words(question, readings, near)
    yield from _by_person(question, catalog, chosen, near)
    yield from _by_form(question, catalog, chosen, readings, near)


class _Near:
    """The lines around each chosen one: as places in the catalog, and among the chosen."""

    def __init__(self, catalog: Catalog, chosen: Ints) -> None:
        self.before, self.after = catalog.before[chosen], catalog.after[chosen]
        self.before_2 = _follow(catalog.before, self.before)
        self.after_2 = _follow(catalog.after, self.after)
        self._chosen = chosen

    def of(self, values: Floats, places: Ints) -> Floats:
        """A value of the whole catalog at each place; zero where there is no line."""
        found: Floats = np.where(places == NONE, np.float32(0), values[places])
        return found

    def bits(self, values: Longs, places: Ints) -> Longs:
        """The same for sets of terms, kept as bits."""
        found: Longs = np.where(places == NONE, np.int64(0), values[places])
        return found

    def among(self, values: Floats, places: Ints) -> Floats:
        """A value of the chosen at each place; zero where the line is not chosen."""
        at = np.minimum(np.searchsorted(self._chosen, places), len(self._chosen) - 1)
        found: Floats = np.where(self._chosen[at] == places, values[at], np.float32(0))
        return found


def _follow(beside: Ints, places: Ints) -> Ints:
    found: Ints = np.where(places == NONE, NONE, beside[places]).astype(np.int32)
    return found


def _by_terms(
    question: Question, catalog: Catalog, hits: Hits, chosen: Ints, near: _Near
) -> Iterator[Column]:
    lexical = hits.lexical
    top = max(float(lexical.max(initial=0)), 1e-6)
    total = max(sum(hit.rarity for hit in hits.terms if len(hit.posting.where)), 1e-6)
    share = scaled(lexical)
    own = share[chosen]
    yield "terms", own
    yield "terms_full", lexical[chosen] / np.float32(total)
    yield "terms_rank", _ranks(lexical, chosen)
    yield "terms_before", near.of(share, near.before)
    yield "terms_after", near.of(share, near.after)
    yield "terms_before_2", near.of(share, near.before_2)
    yield "terms_after_2", near.of(share, near.after_2)
    one = beside(share, catalog.before) + beside(share, catalog.after)
    two = share + np.float32(0.5) * one
    far = two + np.float32(0.5) * (beside(two, catalog.before) + beside(two, catalog.after))
    yield "terms_around_rank", _ranks(two, chosen)
    yield "terms_wide_rank", _ranks(far, chosen)
    yield "terms_wide", far[chosen]
    yield "terms_session", session_best(catalog, share)[chosen]
    yield "terms_wide_session", session_best(catalog, far)[chosen]
    bits = np.zeros(catalog.count, np.int64)
    rarest = np.zeros(catalog.count, np.float32)
    weights = []
    told = [hit for hit in hits.terms if len(hit.posting.where)]
    if len(told) > _BITS:  # a long prompt: what is rare tells most
        told = sorted(told, key=lambda hit: -hit.rarity)[:_BITS]
    for n, hit in enumerate(told):
        bits[hit.posting.where] |= 1 << n
        rarest[hit.posting.where] = np.maximum(rarest[hit.posting.where], np.float32(hit.rarity))
        weights.append(hit.rarity)
    weigh = np.array(weights, np.float32) / np.float32(total)
    own_bits = bits[chosen]
    before, after = near.bits(bits, near.before), near.bits(bits, near.after)
    wide = near.bits(bits, near.before_2) | near.bits(bits, near.after_2)
    covered = _mass(own_bits, weigh)
    yield "covered", covered
    yield "covered_before", _mass(own_bits | before, weigh) - covered
    yield "covered_after", _mass(own_bits | after, weigh) - covered
    yield "covered_around", _mass(own_bits | before | after, weigh)
    yield "covered_wide", _mass(own_bits | before | after | wide, weigh)
    yield "covered_session", _mass(_session_bits(catalog, bits)[chosen], weigh)
    yield "matched", np.bitwise_count(own_bits).astype(np.float32)
    yield "rarest", rarest[chosen] / np.float32(max([h.rarity for h in told], default=1.0))
    size = len(chosen)
    yield "asked_terms", np.full(size, len(told), np.float32)
    every = sum(hit.rarity for hit in hits.terms)
    yield "known_terms", np.full(size, total / max(every, 1e-6), np.float32)
    yield "best_terms", np.full(size, top / total, np.float32)
    names = asked_names(question, catalog, hits)
    matter = [hit for hit in hits.terms if hit.term not in names]
    asked = np.float32(max(sum(hit.rarity for hit in matter), 1e-6))
    about = np.array([0 if hit.term in names else hit.rarity for hit in told], np.float32) / asked
    yield "matter", _mass(own_bits, about) if matter else np.ones(size, np.float32)
    around = own_bits | before | after
    yield "matter_around", _mass(around, about) if matter else np.ones(size, np.float32)
    of_terms = {hit.term: np.int64(1 << n) for n, hit in enumerate(told)}
    yield "named", _named(names, of_terms, catalog, chosen, around, near)
    known = [bool(by.any()) or name in of_terms for name, by in names.items()]
    yield "known_names", np.full(size, np.mean(known) if known else 1, np.float32)


def asked_names(question: Question, catalog: Catalog, hits: Hits) -> dict[str, Flags]:
    """The names in a question, as terms, with the authors who bear them.

    A question's first word is written like a name, whatever it is: it is one if it is known.
    """
    first = terms(question.text.split(maxsplit=1)[0]) if question.text else {}
    known = {hit.term for hit in hits.terms if len(hit.posting.where)}
    found = {}
    for name in sorted(question.names):
        for term in terms(name):
            by = np.array([term in terms(author) for author in catalog.authors], np.bool_)
            if term in question.terms and (term not in first or term in known or by.any()):
                found[term] = by
    return found


def _named(
    names: dict[str, Flags],
    of_terms: dict[str, np.int64],
    catalog: Catalog,
    chosen: Ints,
    around: Longs,
    near: _Near,
) -> Floats:
    """The share of the asked names that stand in a line or beside it, or are its speaker's; -1
    where no name is asked for."""
    if not names:
        return np.full(len(chosen), -1, np.float32)
    there = np.zeros(len(chosen), np.float32)
    for name, by in names.items():
        there += ((around & of_terms.get(name, np.int64(0))) != 0) | by[catalog.author[chosen]]
    return there / np.float32(len(names))


def _session_bits(catalog: Catalog, bits: Longs) -> Longs:
    found = np.zeros(int(catalog.session.max(initial=NONE)) + 2, np.int64)
    np.bitwise_or.at(found, catalog.session, bits)
    found[NONE] = 0
    return found[catalog.session]


def _mass(bits: Longs, weights: Floats) -> Floats:
    """The summed weight of the terms whose bits are set."""
    flags = (bits[:, None] >> np.arange(len(weights))) & 1
    mass: Floats = flags.astype(np.float32) @ weights
    return mass


def _ranks(values: Floats, chosen: Ints) -> Floats:
    """How many of all values are larger, as a logarithm."""
    ordered = np.sort(values)
    larger = len(ordered) - np.searchsorted(ordered, values[chosen], side="right")
    return np.log1p(larger).astype(np.float32)


def _by_meaning(
    dense: Floats | None, catalog: Catalog, chosen: Ints, near: _Near
) -> Iterator[Column]:
    values = np.zeros(catalog.count, np.float32) if dense is None else dense
    spread = max(float(values.std()), 1e-6)
    level: Floats = (values - values.mean()) / np.float32(spread)
    yield "meaning", values[chosen]
    yield "meaning_scaled", level[chosen]
    yield "meaning_rank", _ranks(values, chosen)
    yield "meaning_before", near.of(level, near.before)
    yield "meaning_after", near.of(level, near.after)
    yield "meaning_session", session_best(catalog, level)[chosen]


def _by_words(question: Question, readings: Readings, near: _Near) -> Iterator[Column]:
    """Each word of the question with the word of the text that is nearest to it in meaning."""
    asked, texts = readings.asked, readings.words
    alike = readings.vectors[asked] @ readings.vectors[texts].T
    same = readings.stems[asked][:, None] == readings.stems[texts][None, :]
    alike = np.where(same, np.float32(1), alike)
    nearest = np.maximum.reduceat(alike, readings.starts, axis=1)
    weights = readings.weights[asked]
    named = np.array([word in question.names for word in question.words])
    plain = np.where(named, np.float32(0.2), np.float32(1)) * weights
    share = plain / max(float(plain.sum()), 1e-6)
    own = share @ nearest
    yield "words", own
    yield "words_before", near.among(own, near.before)
    yield "words_after", near.among(own, near.after)
    yield "words_rank", _ranks(own, np.arange(len(own), dtype=np.int32))
    sharp = share @ np.maximum(nearest - np.float32(0.25), 0)
    yield "words_sharp", sharp
    gap = share @ np.where(nearest < 0.999, nearest, np.float32(0))
    yield "words_unlike", gap
    heavy = readings.weights[texts]
    back = alike.max(axis=0) * heavy
    mass: Floats = np.maximum(np.add.reduceat(heavy, readings.starts), np.float32(1e-6))
    yield "words_back", (np.add.reduceat(back, readings.starts) / mass).astype(np.float32)
    yield "words_least", np.where(plain[:, None] > 5, nearest, np.float32(1)).min(axis=0)
    centre = (readings.vectors[asked] * plain[:, None]).sum(axis=0)
    centre /= max(float(np.sqrt(centre @ centre)), 1e-6)
    rows = np.add.reduceat(readings.vectors[texts] * heavy[:, None], readings.starts, axis=0)
    rows /= np.maximum(np.sqrt(np.square(rows).sum(axis=1)), np.float32(1e-6))[:, None]
    gist = rows @ centre
    yield "gist", gist
    yield "gist_rank", _ranks(gist, np.arange(len(gist), dtype=np.int32))
    if len(readings.focus):
        to_focus = (readings.vectors[readings.focus] @ readings.vectors[texts].T).max(axis=0)
        to_focus = np.where(
            np.isin(readings.stems[texts], readings.stems[readings.focus]), 0, to_focus
        )
        yield "focus", np.maximum.reduceat(to_focus, readings.starts)
    else:
        yield "focus", np.full(len(readings.starts), -1, np.float32)
    pairs = _pairs(readings.stems[asked])
    written = _pairs(readings.stems[texts])
    phrase = np.append(np.isin(written, pairs), False)
    ends = np.append(readings.starts[1:], len(texts)) - 1
    phrase[ends] = False
    phrases = np.add.reduceat(phrase.astype(np.float32), readings.starts)
    yield "phrases", phrases
    yield "echo", (phrases / np.float32(max(1, len(pairs)))).astype(np.float32)
    sizes = np.diff(np.append(readings.starts, len(texts))).astype(np.float32)
    piled = np.add.reduceat(same.any(axis=0).astype(np.float32), readings.starts)
    yield "pile", (piled / sizes).astype(np.float32)


def _pairs(stems: Ints) -> Longs:
    return stems[:-1].astype(np.int64) << 32 | stems[1:]


def _by_person(question: Question, catalog: Catalog, chosen: Ints, near: _Near) -> Iterator[Column]:
    named = named_authors(question, catalog)
    some = bool(named.any())
    author = catalog.author[chosen]
    yield "said_by", np.where(named[author], np.float32(1), np.float32(-1 if some else 0))
    yield "persons", np.full(len(chosen), int(named.sum()), np.float32)


def named_authors(question: Question, catalog: Catalog) -> Flags:
    """Which authors of a scope a question names, by any part of their names."""
    names = question.names
    return np.array(
        [any(part in names for part in name.lower().split()) for name in catalog.authors], np.bool_
    )


def _by_form(
    question: Question, catalog: Catalog, chosen: Ints, readings: Readings, near: _Near
) -> Iterator[Column]:
    marks = {name: readings.marks[:, n] for n, name in enumerate(MARKS)}
    for name, values in marks.items():
        yield f"line_{name}", values
    yield "before_asks", near.among(marks["asks"], near.before)
    yield "before_length", near.among(marks["length"], near.before)
    size = len(chosen)
    for name in ASKS[:-1]:
        yield f"asks_{name}", np.full(size, question.asks == name, np.float32)
    yield (
        "position",
        np.minimum(catalog.position[chosen] - _first(catalog)[chosen], 60).astype(np.float32),
    )
    yield "age", (1 - chosen / np.float32(max(1, catalog.count))).astype(np.float32)
    if question.span is None:
        yield "in_time", np.zeros(size, np.float32)
    else:
        start, end = question.span
        said = catalog.said_at[chosen]
        meant = np.where(catalog.meant_from[chosen] == NONE, said, catalog.meant_from[chosen])
        inside = ((said >= start) & (said <= end + 14 * DAY)) | ((meant >= start) & (meant <= end))
        yield "in_time", np.where(inside, np.float32(1), np.float32(-1))


def _first(catalog: Catalog) -> Ints:
    """The position of the first line of each fact's session."""
    sessions = int(catalog.session.max(initial=0)) + 2
    first = np.full(sessions, np.iinfo(np.int32).max, np.int32)
    np.minimum.at(first, catalog.session, catalog.position)
    return first[catalog.session]
