"""Figures as people read them, the same on the page and on the screen."""

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Scale:
    """Rewards from `low` to `high` as they are shown: shares as percentages, others as they are."""

    low: float = 0.0
    high: float = 1.0
    name: str = ""  # of what is rewarded, where the domain says it

    @property
    def shares(self) -> bool:
        return (self.low, self.high) == (0.0, 1.0)

    @property
    def heading(self) -> str:
        """Over a column of rewards."""
        return f"{self.name or 'success'} %" if self.shares else self.name or "reward"

    @property
    def unit(self) -> str:
        """Behind a reward in a sentence."""
        return " %" if self.shares else ""

    @property
    def unit_of_gains(self) -> str:
        return " points" if self.shares else ""

    def number(self, reward: float) -> float:
        """A reward or a gain as the number that is shown of it, for axes."""
        return 100 * reward if self.shares else reward

    def value(self, reward: float) -> str:
        return percent(reward) if self.shares else f"{reward:z.{self._places}f}"

    def gain(self, difference: float) -> str:
        return points(difference) if self.shares else f"{difference:+z.{self._places}f}"

    def span(self, low: float, high: float) -> str:
        return f"{self.value(low)} … {self.value(high)}"

    def gain_span(self, low: float, high: float) -> str:
        return f"{self.gain(low)} … {self.gain(high)}"

    @property
    def _places(self) -> int:
        """So many that a thousandth of the range can be seen."""
        return max(0, 3 - math.floor(math.log10(self.high - self.low)))


SHARES = Scale()


def scale_of(domain: Any) -> Scale:
    """That of a domain, or of the type of one."""
    low, high = getattr(domain, "reward_range", (0.0, 1.0))
    return Scale(low, high, getattr(domain, "reward_name", ""))


def percent(value: float) -> str:
    """A share as a percentage, without its sign for it."""
    return f"{_tenths(value):.1f}"


def points(value: float) -> str:
    """A difference of shares in percentage points."""
    return f"{_tenths(value):+.1f}"


def span(low: float, high: float) -> str:
    return f"{percent(low)} … {percent(high)}"


def gain_span(low: float, high: float) -> str:
    return f"{points(low)} … {points(high)}"


def amount(value: float, largest: float) -> str:
    """Some quantity in a column whose largest has four digits that count."""
    places = 3 - math.floor(math.log10(abs(largest))) if largest else 0
    return f"{value:z.{min(max(places, 0), 12)}f}"


def chance(p: float) -> str:
    """A p-value."""
    return "<0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.01 else f"{p:.3f}"


def _tenths(value: float) -> float:
    return round(100 * value, 1) + 0.0  # there is no minus zero on a page
