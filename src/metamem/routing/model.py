"""What outcomes teach about arms: one Bayesian linear regression for all of them.

A task is worth what it is worth to everybody (the common part), and what it is worth more or less to one
arm (that arm's own part). The common part takes up what makes a task hard for all, so that an arm is not
blamed for the tasks it was given; an arm that was never tried starts from it, with a wide spread.

Success, cost and latency are learned side by side, and weighed only when they are asked for: with other
weights nothing has to be learned again.

Given the common part the arms are independent. So each has its own small matrix, and nothing as large as
all of them together is ever inverted.

How much arms differ from task to task nobody knows beforehand. Whenever the outcomes have doubled, the model
asks which width makes them likeliest: where words tell nothing, it is soon as good as none, and the router
gives all tasks to the same arm.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metamem.routing.features import Vector
from metamem.routing.settings import Settings
from metamem.routing.words import Arm, Outcome

Matrix = NDArray[np.float64]
Places = NDArray[np.intp]
OUTPUTS = 3  # success, cost, latency
STALE = 20  # a posterior is made anew when what is known has grown by one in so many
FIRST_FIT = 64  # outcomes after which the widths are fitted; then whenever there are twice as many
WIDTHS = (1.0, 0.5, 0.25, 0.1, 0.03)  # of the task spread, to choose from
NOISES = (1.0, 0.6, 0.35)  # of the noise
BEFORE = (0.5, 0.0, 0.0)  # success, cost and latency of an arm of which nothing is said


@dataclass(slots=True)
class _Known:
    """What was seen of an arm: sums over its outcomes."""

    gram: Matrix
    sums: Matrix
    products: Matrix  # output × output
    outcomes: int = 0
    weight: float = 0.0  # of them all: older ones count less


@dataclass(frozen=True, slots=True)
class Posterior:
    """What is believed of some arms after some outcomes. Spreads are in units of the noise."""

    weights: Matrix  # arm × feature × output: common and own part together
    own: Matrix  # arm × feature × feature: spread of the own part, the common one given
    passing: Matrix  # arm × feature × feature: what of the common part is left to an arm
    common: Matrix  # feature × feature: spread of the common part
    noise: float

    def expected(self, row: Vector) -> Matrix:
        """Success, cost and latency of each arm on one task: a row for each."""
        return np.asarray(np.einsum("f,afo->ao", row, self.weights))

    def covariance(self, row: Vector) -> Matrix:
        """How unsure the worth of each arm on one task is, together."""
        passed = row @ self.passing
        shared = passed @ self.common @ passed.T
        alone = (row @ self.own) @ row
        return np.asarray(self.noise**2 * (shared + np.diag(alone)))


class Model:
    """Takes outcomes in, in any order, and says what it believes. Older ones count less."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        s, width = settings, settings.dimensions + 1
        self._width = width
        self._known: dict[str, _Known] = {}
        self._latest = 0  # the number of the newest decision: what weights are relative to
        self._noise, self._spread = s.noise, s.task_spread  # as fitted so far
        self._total = self._since = 0
        self._kept: tuple[tuple[Arm, ...], Posterior] | None = None

    @property
    def total(self) -> int:
        """How many outcomes were taken in."""
        return self._total

    @property
    def widths(self) -> tuple[float, float]:
        """The noise and the task spread, as fitted so far."""
        return self._noise, self._spread

    def seen(self, arm: str) -> int:
        return self._known[arm].outcomes if arm in self._known else 0

    def take(self, arm: str, row: Vector, outcome: Outcome, number: int | None = None) -> None:
        """Learn from one outcome; `number` is that of its decision, the next where none is given."""
        number = self._latest + 1 if number is None else number
        if number > self._latest:
            fade = 0.5 ** ((number - self._latest) / self.settings.half_life)
            for known in self._known.values():
                known.gram *= fade
                known.sums *= fade
                known.products *= fade
                known.weight *= fade
            self._latest = number
        weight = 0.5 ** ((self._latest - number) / self.settings.half_life)
        known = self._known.setdefault(arm, self._nothing())
        known.gram += weight * np.outer(row, row)
        given = np.array((outcome.success, outcome.cost, outcome.latency))
        known.sums += weight * np.outer(row, given)
        known.products += weight * np.outer(given, given)
        known.weight += weight
        known.outcomes += 1
        self._total += 1
        self._since += 1
        if self._total >= FIRST_FIT and self._total & (self._total - 1) == 0:
            self._fit()

    def posterior(self, arms: Sequence[Arm]) -> Posterior:
        """What is believed of these arms. Made anew when what is known has grown by a twentieth:
        later outcomes change little."""
        asked = tuple(arms)
        if self._kept and self._kept[0] == asked and self._since * STALE <= self._total:
            return self._kept[1]
        found = self._made(asked)
        self._kept, self._since = (asked, found), 0
        return found

    def _nothing(self) -> _Known:
        w = self._width
        return _Known(np.zeros((w, w)), np.zeros((w, OUTPUTS)), np.zeros((OUTPUTS, OUTPUTS)))

    def _priors(self, noise: float, spread: float) -> tuple[Vector, Vector]:
        """How firmly the common and the own parts are held at nothing, in units of the noise."""
        common = np.full(self._width, (noise / self.settings.common_spread) ** 2)
        own = np.full(self._width, (noise / spread) ** 2)
        own[0] = (noise / self.settings.arm_spread) ** 2
        return common, own

    def _made(self, arms: tuple[Arm, ...]) -> Posterior:
        """Each arm's own part is worked out given the common part, and that from all arms: also from
        those that are not asked for, of which nothing is believed beforehand."""
        named = [*arms, *(Arm(name) for name in self._known if name not in {a.name for a in arms})]
        known = [self._known.get(arm.name) or self._nothing() for arm in named]
        gram, sums, at = self._seen_part(known)
        before = np.zeros((len(named), len(at), OUTPUTS))
        before[:, 0] = [(arm.success, arm.cost, arm.latency) for arm in named]
        sums -= gram @ before
        all_common, all_own = self._priors(self._noise, self._spread)
        firm_common, firm_own = all_common[at], all_own[at]
        own: Matrix = np.asarray(np.linalg.inv(gram + np.diag(firm_own)), np.float64)
        passing = own * firm_own  # of each row's common part, what an arm's outcomes leave
        told = passing.transpose(0, 2, 1)
        common = np.linalg.inv(np.diag(firm_common) + (told @ gram).sum(axis=0))
        shared = common @ (told @ sums).sum(axis=0)
        weights = shared + before + own @ (sums - gram @ shared)
        count = len(arms)
        whole = np.zeros((count, self._width, OUTPUTS))
        whole[:, at] = weights[:count]
        return Posterior(
            whole,
            _among(own[:count], 1.0 / all_own, at),
            _among(passing[:count], np.ones(self._width), at),
            _among(common[None], 1.0 / all_common, at)[0],
            self._noise,
        )

    def _seen_part(self, known: Sequence[_Known]) -> tuple[Matrix, Matrix, Places]:
        """What was seen of some arms, at the features that were seen at all: of the others all stays as
        it was believed at first, so that they need not be worked out. The first is always one of them."""
        seen = np.any([np.diagonal(each.gram) for each in known], axis=0)
        seen[0] = True
        at = np.flatnonzero(seen)
        gram = np.stack([each.gram[np.ix_(at, at)] for each in known])
        return gram, np.stack([each.sums[at] for each in known]), at

    # --- fitting the widths ------------------------------------------------------------------

    def _fit(self) -> None:
        """Take the noise and the task spread that make the outcomes so far likeliest."""
        s = self.settings
        weigh = np.array((1.0, -s.cost_weight, -s.latency_weight))
        known = list(self._known.values())
        gram, told_of, at = self._seen_part(known)
        start = float(np.array(BEFORE) @ weigh)
        sums = told_of @ weigh - start * gram[:, :, 0]
        squares = sum(
            float(weigh @ each.products @ weigh)
            - 2.0 * start * float(each.sums[0] @ weigh)
            + start**2 * each.weight
            for each in known
        )
        weight = sum(each.weight for each in known)

        def likelihood(widths: tuple[float, float]) -> float:
            noise, spread = widths
            firm_common, firm_own = (firm[at] for firm in self._priors(noise, spread))
            held = gram + np.diag(firm_own)
            own = np.linalg.inv(held)
            told = (own * firm_own).transpose(0, 2, 1)
            precision = np.diag(firm_common) + (told @ gram).sum(axis=0)
            through = np.einsum("afg,ag->f", told, sums)
            fitted = float(np.einsum("af,afg,ag->", sums, own, sums))
            fitted += float(through @ np.linalg.solve(precision, through))
            volume = float(np.linalg.slogdet(held)[1].sum() + np.linalg.slogdet(precision)[1])
            volume -= float(np.log(firm_common).sum() + len(known) * np.log(firm_own).sum())
            off = max(squares - fitted, 0.0) / noise**2
            return -0.5 * (volume + weight * math.log(noise**2) + off)

        self._noise, self._spread = max(self._widths(), key=likelihood)

    def _widths(self) -> Iterator[tuple[float, float]]:
        for noise in NOISES:
            for width in WIDTHS:
                yield self.settings.noise * noise, self.settings.task_spread * width


def _among(found: Matrix, otherwise: Vector, at: Places) -> Matrix:
    """Square matrices at some places, and at all others a diagonal."""
    whole = np.zeros((len(found), len(otherwise), len(otherwise)))
    whole[:] = np.diag(otherwise)
    whole[:, at[:, None], at] = found
    return whole
