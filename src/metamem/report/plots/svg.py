"""Just enough SVG: elements whose every attribute and text is escaped, and round axis ticks."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup, escape

from metamem.core.figures import Scale as Rewards

READABLE = 720  # pixels; narrower pages scroll a plot sideways rather than shrink it further


def element(tag: str, *children: Markup | str, **attributes: str | float) -> Markup:
    """`class_` stands for class, and underscores for hyphens."""
    shown = Markup("").join(
        Markup(' {}="{}"').format(Markup(name.rstrip("_").replace("_", "-")), _number(value))
        for name, value in attributes.items()
    )
    if not children:
        return Markup("<{0}{1}/>").format(Markup(tag), shown)
    inner = Markup("").join(escape(child) for child in children)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(tag), shown, inner)


def _number(value: str | float) -> str:
    if isinstance(value, str):
        return value
    if not math.isfinite(value):
        raise ValueError("a plot has no place for what is not a number")
    return f"{value:.2f}".rstrip("0").rstrip(".")


def picture(width: float, height: float, title: str, description: str, *parts: Markup) -> Markup:
    """A whole plot; the description is what someone hears who cannot see it."""
    return element(
        "svg",
        element("title", title),
        element("desc", description),
        *parts,
        viewBox=f"0 0 {_number(width)} {_number(height)}",
        role="img",
        aria_label=f"{title}. {description}",
        class_="plot",
        style=f"min-width:{_number(min(width, READABLE))}px",
    )


def text(x: float, y: float, words: str, class_: str = "", anchor: str = "start") -> Markup:
    return element("text", words, x=x, y=y, class_=class_, text_anchor=anchor)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def polyline(points: Iterable[tuple[float, float]], class_: str) -> Markup:
    joined = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
    return element("polyline", points=joined, class_=class_, fill="none")


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from at most `low` to at least `high`."""
    width = high - low
    if width <= 1e-9 * max(abs(low), abs(high), 1e-100):  # too little to be parted by round numbers
        low, high, width = low - 0.5, high + 0.5, 1.0
    raw = width / about
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(m * magnitude for m in (1, 2, 2.5, 5, 10) if m * magnitude >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [n * step for n in range(first, last + 1)]


def reward_ticks(low: float, high: float, rewards: Rewards) -> list[float]:
    """Round numbers around rewards, as they are shown: estimates beyond what there can be left out."""
    least, most = rewards.number(rewards.low), rewards.number(rewards.high)
    low, high = min(max(low, least), most), max(min(high, most), least)
    thin = (most - least) / 100
    if high - low < thin:
        low, high = max(least, low - thin / 2), min(most, high + thin / 2)
    return ticks(low, high)


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to places on the page."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        if self.high == self.low:
            return (self.start + self.end) / 2
        return self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)
