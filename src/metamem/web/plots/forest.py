"""Intervals side by side: the learned design's gain over every other, on every split."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from metamem.web.figures import gain_span, points
from metamem.web.plots.svg import Scale, element, line, picture, text, ticks

WIDTH, LEFT, RIGHT, ROW, TOP = 900, 220, 180, 24, 30


def forest_plot(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> Markup:
    """Empty where nothing was compared."""
    compared = [
        (split, row) for split, rows in tables.items() for row in rows if "comparison" in row
    ]
    if not compared:
        return Markup("")
    found = [row["comparison"] for _, row in compared]
    low = min(0.0, *(100 * c["low"] for c in found))
    high = max(0.0, *(100 * c["high"] for c in found))
    marks = ticks(low, high, 6)
    x = Scale(marks[0], marks[-1], LEFT, WIDTH - RIGHT)
    height = TOP + ROW * len(compared) + 30
    parts = []
    for mark in marks:
        parts.append(line(x(mark), TOP - 8, x(mark), height - 28, "zero" if mark == 0 else "grid"))
        parts.append(text(x(mark), height - 12, f"{mark:+g}" if mark else "0", "tick", "middle"))
    parts.append(text(WIDTH - RIGHT + 10, TOP - 14, "points, 95 % interval", "tick"))
    for number, (split, row) in enumerate(compared):
        parts.append(_row(f"{row['name']} ({split})", row["comparison"], x, TOP + ROW * number + 8))
    words = "; ".join(
        f"over {row['name']} on {split} {points(row['comparison']['gain'])}"
        for split, row in compared
    )
    return picture(WIDTH, height, "Gains with intervals", f"Points gained: {words}.", *parts)


def _row(name: str, found: Mapping[str, Any], x: Scale, y: float) -> Markup:
    gain, low, high = (100 * found[key] for key in ("gain", "low", "high"))
    shown = f"{points(found['gain'])} ({gain_span(found['low'], found['high'])})"
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
