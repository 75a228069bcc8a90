"""Success over the size of memory: a line a design, in a picture that stands on its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log1p

from markupsafe import Markup

from metamem.core.figures import Scale as Rewards
from metamem.report.plots.svg import Scale, element, line, polyline, reward_ticks, text
from metamem.runs.swept import Curve, CurveLine

WIDTH, HEIGHT = 900, 440
LEFT, RIGHT, TOP, BOTTOM = 60, 230, 64, 56
LABEL = 16  # pixels from one name to the next
APART = 7  # pixels between the intervals of neighbours at one size
LETTERS = 30  # of a name that fit beside the plot
# Apart for every kind of sight, and on white; a line's dashes tell it from the others without any.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a5c00", "#56b4e9", "#000000")
DASHES = ("none", "7 4", "2 3", "9 3 2 3", "12 4")
STYLE = (
    "text { font: 13px system-ui, sans-serif; fill: #1c1f23; } .tick { fill: #5c636b; }"
    " .head { font-size: 16px; font-weight: 600; } .grid { stroke: #dcdfe2; }"
)


@dataclass(frozen=True, slots=True)
class Heights:
    """Places of rewards, as they are shown."""

    rewards: Rewards
    scale: Scale

    def __call__(self, reward: float) -> float:
        return self.scale(self.rewards.number(reward))


@dataclass(frozen=True, slots=True)
class Sizes:
    """Places of sizes, by the logarithm of size + 1: most happens among the first few tasks."""

    scale: Scale

    def __call__(self, size: int) -> float:
        return self.scale(log1p(size))


def curve_plot(found: Curve) -> Markup:
    """A whole SVG file, from what `metamem.curve` found."""
    rows, sizes = found.rows, found.sizes
    points = [point for row in rows for point in row.points.values()]
    rewards = found.scale
    lows, highs = (rewards.number(p.low) for p in points), (rewards.number(p.high) for p in points)
    marks = reward_ticks(min(lows), max(highs), rewards)
    x = Sizes(Scale(log1p(sizes[0]), log1p(sizes[-1]), LEFT + 24, WIDTH - RIGHT - 24))
    y = Heights(rewards, Scale(marks[0], marks[-1], HEIGHT - BOTTOM, TOP))
    what = "success" if rewards.shares else "reward"
    title = f"{found.domain}, {found.split}: {what} by tasks that memory learned from"
    about = (
        f"agent {found.agent}, {found.tasks} tasks, {found.rules.rollout}; bars are 95 % intervals"
    )
    heights = _spread([y(row.points[sizes[-1]].mean) for row in rows])
    parts = [_line(n, row, x, y, heights[n], len(rows)) for n, row in enumerate(rows)]
    return element(
        "svg",
        element("title", title),
        element("desc", _words(rows, rewards)),
        element("style", STYLE),
        element("rect", width=WIDTH, height=HEIGHT, fill="#ffffff"),
        text(LEFT - 8, 24, title, "head"),
        text(LEFT - 8, 44, about, "tick"),
        _axes(sizes, marks, x, y),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        width=WIDTH,
        height=HEIGHT,
        role="img",
    )


def _axes(sizes: Sequence[int], marks: Sequence[float], x: Sizes, y: Heights) -> Markup:
    parts = []
    for mark in marks:
        height = y.scale(mark)
        parts.append(line(LEFT, height, WIDTH - RIGHT, height, "grid"))
        parts.append(text(LEFT - 8, height + 4, f"{mark:g}", "tick", "end"))
    taken = -1000.0
    for size in sizes:
        if x(size) - taken >= 30:  # sizes that lie close together share a label
            parts.append(text(x(size), HEIGHT - BOTTOM + 20, str(size), "tick", "middle"))
            taken = x(size)
    middle = (LEFT + WIDTH - RIGHT) / 2
    words = "tasks that memory learned from (log scale)"
    parts.append(text(middle, HEIGHT - 12, words, "tick", "middle"))
    turn = element(
        "text",
        y.rewards.heading,
        class_="tick",
        text_anchor="middle",
        transform=f"translate(18 {(TOP + HEIGHT - BOTTOM) / 2:g}) rotate(-90)",
    )
    return Markup("").join([*parts, turn])


def _line(number: int, row: CurveLine, x: Sizes, y: Heights, height: float, lines: int) -> Markup:
    colour, dash = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
    aside = APART * (number - (lines - 1) / 2)
    places = [(x(size) + aside, y(p.mean)) for size, p in row.points.items()]
    drawn = polyline(places, "line")
    parts = [element("g", drawn, stroke=colour, stroke_width=2.2, stroke_dasharray=dash)]
    for (at, middle), (size, point) in zip(places, row.points.items(), strict=True):
        mean, span = _told(point.mean, y.rewards), y.rewards.span(point.low, point.high)
        words = f"{row.name}, {size} tasks: {mean} ({span})"
        bar = line(at, y(point.low), at, y(point.high), "bar")
        dot = element("circle", element("title", words), cx=at, cy=middle, r=4, fill=colour)
        parts.append(element("g", bar, stroke=colour, stroke_opacity=0.6, stroke_width=1.4))
        parts.append(dot)
    end = places[-1]
    left = WIDTH - RIGHT + 10
    lead = line(end[0] + 7, end[1], left - 2, height, "lead")
    parts.append(element("g", lead, stroke=colour, stroke_opacity=0.45))
    name = row.name if len(row.name) <= LETTERS else row.name[: LETTERS - 1] + "…"
    label = element("text", name, x=left + 2, y=height + 4, style=f"fill: {colour}")
    return Markup("").join([*parts, label])


def _spread(heights: Sequence[float]) -> list[float]:
    """Where names stand beside the ends of their lines: as near as they can, never on another."""
    order = sorted(range(len(heights)), key=lambda n: (heights[n], n))
    placed = list(heights)
    for above, below in pairwise(order):
        placed[below] = max(placed[below], placed[above] + LABEL)
    lowest = float(HEIGHT - BOTTOM)
    for n in reversed(order):  # what was pushed off the page pushes back
        placed[n] = min(placed[n], lowest)
        lowest = placed[n] - LABEL
    return placed


def _told(reward: float, rewards: Rewards) -> str:
    return f"{rewards.value(reward)}{rewards.unit}"


def _words(rows: Sequence[CurveLine], rewards: Rewards) -> str:
    told = []
    for row in rows:
        (least, first), *_, (most, last) = row.points.items()
        told.append(
            f"{row.name} goes from {_told(first.mean, rewards)} with {least} tasks"
            f" to {_told(last.mean, rewards)} with {most}"
        )
    return "; ".join(told) + "."
