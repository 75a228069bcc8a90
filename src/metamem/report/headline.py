"""The result of a run in plain words, neither more nor less than the figures carry."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metamem.core.figures import Scale, chance
from metamem.core.ids import short
from metamem.core.types import Kind
from metamem.runs.attribution import attributions
from metamem.runs.summary import Summary
from metamem.runs.table import LEARNED, TableRow, best_human

WHAT: dict[Kind, str] = {"code": "memory", "params": "set of parameters"}


@dataclass(frozen=True, slots=True)
class Headline:
    tone: str  # good | mixed | none | unfinished
    title: str
    sentences: tuple[str, ...]


def headline(state: str, summary: Summary, kind: Kind = "code") -> Headline:
    if summary.decision is None:
        more = (summary.error,) if summary.error else ()
        words = f"This run has not finished: it is {state}"
        return Headline("unfinished", words, ("What there is so far is shown below.", *more))
    reason = f"{summary.decision.reason}."
    if not summary.learned:
        return Headline("none", "The search found no design that works", (reason,))
    tables = summary.tables
    sentences = [_sentence(split, rows, summary.scale) for split, rows in tables.items()]
    sentences += [found.told(summary.scale) for found in attributions(summary)]
    sentences += _over_chance(summary)
    sentences.append(f"The gate's decision: {reason}")
    name = f"The learned {WHAT[kind]} {short(summary.learned)}"
    if summary.learned in summary.decision.objections:
        title = f"{name} beats the best human design, but not by what it remembers"
        return Headline("none", title, tuple(sentences))
    if not summary.promoted:
        title = f"{name} was not proven better than the best human design"
        return Headline("none", title, tuple(sentences))
    if not (less := _less(tables)):
        title = f"{name} beats the best human design on tasks it never saw"
        return Headline("good", title, tuple(sentences))
    return Headline("mixed", f"{name} passed the gate, but its gain {less}", tuple(sentences))


def reservation(summary: Summary) -> str:
    """What to know before that is used which the gate promoted: where its gain did not show again."""
    less = _less(summary.tables) if summary.learned and summary.promoted else ""
    if not less:
        return ""
    lost = [
        _sentence(s, rows, summary.scale) for s, rows in summary.tables.items() if not _won(rows)
    ]
    return " ".join([f"It passed the gate, but its gain {less}.", *lost])


def _less(tables: Mapping[str, Sequence[TableRow]]) -> str:
    """Where the gain holds, if not on every split that was read."""
    wins = [split for split, rows in tables.items() if _won(rows)]
    if len(wins) == len(tables):
        return ""
    return f"holds on {' and '.join(wins)} only" if wins else "did not show again on unseen tasks"


def _won(rows: Sequence[TableRow]) -> bool:
    return _verdict(rows) > 0


def _verdict(rows: Sequence[TableRow]) -> int:
    best = best_human(rows)
    if best is None or best[1].p_holm > 0.05:
        return 0
    found = best[1]
    return 1 if found.low > 0 else -1 if found.high < 0 else 0


def _sentence(split: str, rows: Sequence[TableRow], scale: Scale) -> str:
    learned = next(row for row in rows if row.name == LEARNED)
    best = best_human(rows)
    scored = f"On {split} it reaches {scale.value(learned.mean)}{scale.unit}"
    if best is None:
        return f"{scored}."
    human, found = best
    verdict = {
        1: "that beats",
        0: "that is not proven to differ from",
        -1: "that is worse than",
    }[_verdict(rows)]
    return (
        f"{scored}; {verdict} the best human design there, {human.name} "
        f"({scale.value(human.mean)}{scale.unit}): {scale.gain(found.gain)}{scale.unit_of_gains} on "
        f"{learned.tasks} tasks that the search never saw (95 % interval {scale.gain(found.low)} to "
        f"{scale.gain(found.high)}, p {_is(chance(found.p_holm))} after Holm's correction)."
    )


def _over_chance(summary: Summary) -> list[str]:
    """Whether the search was worth more than a blind one at the same budget."""
    scale, blind, gains = summary.scale, "", []
    for split in summary.tables:
        row = summary.by_luck(split)
        if row is not None and (found := row.comparison) is not None:
            blind = row.name
            gains.append(
                f"{scale.gain(found.gain)}{scale.unit_of_gains} on {split} "
                f"({scale.gain(found.low)} to {scale.gain(found.high)})"
            )
    if not gains:
        return []
    told = " and ".join(gains)
    return [f"Against {blind} at the same budget the difference is {told}."]


def _is(told: str) -> str:
    """A figure after its name: one that is only bounded says so itself."""
    return f"< {told[1:]}" if told.startswith("<") else f"= {told}"
