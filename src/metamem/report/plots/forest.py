"""Intervals side by side: the learned design's gain over every other, on every split."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from metamem.core.figures import SHARES
from metamem.core.figures import Scale as Rewards
from metamem.evaluation.statistics import HolmComparison
from metamem.report.plots.svg import Scale, element, line, picture, text, ticks
from metamem.runs.table import TableRow

WIDTH, LEFT, RIGHT, ROW, TOP = 900, 220, 180, 24, 30


def forest_plot(tables: Mapping[str, Sequence[TableRow]], rewards: Rewards = SHARES) -> Markup:
    """Empty where nothing was compared."""
    compared = [
        (f"{row.name} ({split})", f"over {row.name} on {split}", row.comparison)
        for split, rows in tables.items()
        for row in rows
        if row.comparison is not None
    ]
    if not compared:
        return Markup("")
    low = min(0.0, *(rewards.number(found.low) for _, _, found in compared))
    high = max(0.0, *(rewards.number(found.high) for _, _, found in compared))
    marks = ticks(low, high, 6)
    x = Scale(marks[0], marks[-1], LEFT, WIDTH - RIGHT)
    height = TOP + ROW * len(compared) + 30
    parts = []
    for mark in marks:
        parts.append(line(x(mark), TOP - 8, x(mark), height - 28, "zero" if mark == 0 else "grid"))
        parts.append(text(x(mark), height - 12, f"{mark:+g}" if mark else "0", "tick", "middle"))
    parts.append(
        text(
            WIDTH - RIGHT + 10,
            TOP - 14,
            f"{rewards.unit_of_gains.strip() or 'gain'}, 95 % interval",
            "tick",
        )
    )
    for number, (name, _, found) in enumerate(compared):
        parts.append(_row(name, found, x, TOP + ROW * number + 8, rewards))
    words = "; ".join(f"{over} {rewards.gain(found.gain)}" for _, over, found in compared)
    said = f"{'Points gained' if rewards.shares else 'Gains'}: {words}."
    return picture(WIDTH, height, "Gains with intervals", said, *parts)


def _row(name: str, found: HolmComparison, x: Scale, y: float, rewards: Rewards) -> Markup:
    gain, low, high = (rewards.number(v) for v in (found.gain, found.low, found.high))
    shown = f"{rewards.gain(found.gain)} ({rewards.gain_span(found.low, found.high)})"
    sure = "sure" if low > 0 else "worse" if high < 0 else "unsure"
    return Markup("").join(
        [
            text(LEFT - 12, y + 4, name, "node", "end"),
            line(x(low), y, x(high), y, f"interval {sure}"),
            line(x(low), y - 4, x(low), y + 4, f"interval {sure}"),
            line(x(high), y - 4, x(high), y + 4, f"interval {sure}"),
            element("rect", x=x(gain) - 4, y=y - 4, width=8, height=8, class_=f"middle {sure}"),
            text(WIDTH - RIGHT + 10, y + 4, shown, "tick"),
        ]
    )
