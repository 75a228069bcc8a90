"""A design in words: what its rows and traces show that it did, and what its code says it does."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from metamem.core.types import CaseResult, Evaluation
from metamem.designs.docstrings import docstrings, first_paragraph
from metamem.evaluation.rules import Rules
from metamem.evaluation.uptake import NOTHING, uptake
from metamem.store.archive import Trace

_STORES = ("admit", "trim", "keep", "form", "update")
_FORGETS = ("forget",)
_HEADINGS = ("parts", "stores", "retrieves", "forgets")


@dataclass(frozen=True, slots=True)
class Card:
    """Sentences, by what they rest on."""

    title: str
    did: tuple[str, ...]
    says: dict[str, tuple[str, ...]]  # parts, stores, retrieves, forgets → sentences
    sample: str  # an advice as an agent saw it
    sample_goal: str


def card(
    source: str,
    evaluation: Evaluation,
    without: Evaluation | None,
    traces: Sequence[Trace],
    rules: Rules,
) -> Card:
    sample = max(
        (t for t in traces if any(a.text for a in t.episode.advice)),
        key=lambda t: (t.episode.reward, -abs(t.episode.advice[0].tokens - 150), t.case.task_id),
        default=None,
    )
    return Card(
        title=first_paragraph(docstrings(source).get("", "")),
        did=tuple(_did(evaluation, without, rules)),
        says=says(source),
        sample=sample.episode.advice[0].text if sample else "",
        sample_goal=sample.episode.goal if sample else "",
    )


def _did(evaluation: Evaluation, without: Evaluation | None, rules: Rules) -> list[str]:
    rows = evaluation.rows
    told = [row for row in rows if row.advice_digest]
    sentences = [
        f"It was asked {rules.asked}, and had something to say in {_share(told, rows)} of "
        f"{len(rows)} cases."
    ]
    if told:
        tokens = [row.advice_tokens for row in told]
        sentences.append(
            f"Its advice had {median(tokens):.0f} tokens in the median ({min(tokens)} to "
            f"{max(tokens)}); {len({row.advice_digest for row in told})} different advices "
            f"were given."
        )
        sentences += _uptake(evaluation, without)
    cut = [row for row in rows if row.advice_truncated]
    if cut:
        sentences.append(f"The advice was too long and was cut in {_share(cut, rows)} of cases.")
    if without is not None and without.rows:
        sentences.append(
            f"An episode took {fmean(r.steps for r in rows):.1f} actions with it and "
            f"{fmean(r.steps for r in without.rows):.1f} without memory."
        )
    sentences.append(
        f"A retrieve took {fmean(r.measured.retrieve_ms for r in rows):.1f} ms on average."
    )
    failed = [row for row in rows if row.failure]
    sentences.append(
        f"It failed in {len(failed)} cases, such as: {failed[0].failure}"
        if failed
        else "It never failed."
    )
    return sentences


def _uptake(evaluation: Evaluation, without: Evaluation | None) -> list[str]:
    found = uptake(evaluation, without) if without is not None else NOTHING
    if not found.cases:
        return []
    return [
        f"The agent acted otherwise than without memory in {100 * found.taken_up:.0f} % of the "
        f"{found.cases} cases in which it was told something: {100 * found.helped:.0f} % ended "
        f"better and {100 * found.hurt:.0f} % worse than the same case without memory."
    ]


def _share(some: Sequence[CaseResult], rows: Sequence[CaseResult]) -> str:
    return f"{100 * len(some) / len(rows):.0f} %" if rows else "0 %"


def says(source: str) -> dict[str, tuple[str, ...]]:
    """What the docstrings promise, sorted by what a reader asks."""
    found: dict[str, list[str]] = {heading: [] for heading in _HEADINGS}
    for place, text in docstrings(source).items():
        if not place:
            for heading, sentence in _paragraphs(text).items():
                found[heading].append(sentence)
            continue
        owner, _, method = place.partition(".")
        found[_heading(method)].append(f"{owner}: {first_paragraph(text)}")
    return {heading: tuple(dict.fromkeys(s)) for heading, s in found.items() if s}


def _heading(method: str) -> str:
    if not method:
        return "parts"
    if method in _STORES:
        return "stores"
    return "forgets" if method in _FORGETS else "retrieves"


def _paragraphs(text: str) -> dict[str, str]:
    """The parts of a module's docstring that begin with Stores:, Retrieves: or Forgets:."""
    parts: dict[str, list[str]] = {}
    current = ""
    for line in text.splitlines():
        head, colon, rest = line.partition(":")
        if colon and head.strip().lower() in _HEADINGS:
            current = head.strip().lower()
            line = rest
        elif not line.strip():
            current = ""
        if current:
            parts.setdefault(current, []).append(line.strip())
    return {heading: " ".join(lines).strip() for heading, lines in parts.items()}
