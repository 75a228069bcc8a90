"""The result of a run in plain words, neither more nor less than the figures carry."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metamem.core.ids import short
from metamem.core.types import SPLITS
from metamem.web.figures import chance, percent, points

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Headline:
    tone: str  # good | mixed | none | unfinished
    title: str
    sentences: tuple[str, ...]


def ordered(tables: Mapping[str, Rows]) -> dict[str, Rows]:
    """Test before shift, however the archive keeps them."""
    return {split: tables[split] for split in sorted(tables, key=SPLITS.index)}


def headline(state: str, summary: Mapping[str, Any]) -> Headline:
    if "tables" not in summary:
        more = (summary["error"],) if summary.get("error") else ()
        words = f"This run has not finished: it is {state}"
        return Headline("unfinished", words, ("What there is so far is shown below.", *more))
    if not summary["learned"]:
        return Headline(
            "none", "The search found no design that works", (summary["decision"]["reason"] + ".",)
        )
    tables = ordered(summary["tables"])
    verdicts = {split: _verdict(rows) for split, rows in tables.items()}
    sentences = [_sentence(split, rows) for split, rows in tables.items()]
    sentences += _over_chance(tables)
    sentences.append(f"The gate's decision: {summary['decision']['reason']}.")
    name = f"The learned memory {short(summary['learned'])}"
    wins = [split for split, verdict in verdicts.items() if verdict > 0]
    if not summary["promoted"]:
        title = f"{name} was not proven better than the best human design"
        return Headline("none", title, tuple(sentences))
    if len(wins) == len(tables):
        title = f"{name} beats the best human design on tasks it never saw"
        return Headline("good", title, tuple(sentences))
    where = f"holds on {' and '.join(wins)} only" if wins else "did not show again on unseen tasks"
    title = f"{name} passed the gate, but its gain {where}"
    return Headline("mixed", title, tuple(sentences))


def best_human(rows: Rows) -> Mapping[str, Any] | None:
    """The strongest human design on this very split: no easier rival is quoted."""
    humans = [row for row in rows if row["human"] and "comparison" in row]
    return max(humans, key=lambda row: row["mean"], default=None)


def _verdict(rows: Rows) -> int:
    human = best_human(rows)
    if human is None:
        return 0
    found = human["comparison"]
    if found["p_holm"] > 0.05:
        return 0
    return 1 if found["low"] > 0 else -1 if found["high"] < 0 else 0


def _sentence(split: str, rows: Rows) -> str:
    learned = next(row for row in rows if row["name"] == "learned")
    human = best_human(rows)
    scored = f"On {split} it reaches {percent(learned['mean'])} %"
    if human is None:
        return f"{scored}."
    found = human["comparison"]
    verdict = {
        1: "that beats",
        0: "that is not proven to differ from",
        -1: "that is worse than",
    }[_verdict(rows)]
    return (
        f"{scored}; {verdict} the best human design there, {human['name']} "
        f"({percent(human['mean'])} %): {points(found['gain'])} points on {learned['tasks']} "
        f"tasks that the search never saw (95 % interval {points(found['low'])} to "
        f"{points(found['high'])}, p = {chance(found['p_holm'])} after Holm's correction)."
    )


def _over_chance(tables: Mapping[str, Rows]) -> list[str]:
    """Whether the search was worth more than blind recombination at the same budget."""
    gains = [
        f"{points(row['comparison']['gain'])} points on {split} "
        f"({points(row['comparison']['low'])} to {points(row['comparison']['high'])})"
        for split, rows in tables.items()
        for row in rows
        if row["name"] == "random recombination" and "comparison" in row
    ]
    if not gains:
        return []
    told = " and ".join(gains)
    return [f"Against random recombination at the same budget the difference is {told}."]
