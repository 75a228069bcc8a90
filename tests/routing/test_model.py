"""The model beside the same regression worked out at once, with one large matrix."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from metamem.routing import Arm, Outcome, Settings
from metamem.routing.model import FIRST_FIT, NOISES, WIDTHS, Model

SETTINGS = Settings(dimensions=5, half_life=1e12, cost_weight=0.2, latency_weight=0.01)
ARMS = (Arm("a", 0.7, 0.2, 3.0), Arm("b"), Arm("never tried"))
WIDTH = SETTINGS.dimensions + 1
Array = NDArray[np.float64]


def drawn(seed: int, count: int, seen: int = WIDTH) -> list[tuple[Array, int, Outcome]]:
    """Outcomes of tasks in which so many features, the first among them, are ever seen."""
    luck = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        row = np.concatenate(([1.0], luck.normal(size=WIDTH - 1)))
        row[seen:] = 0.0
        outcome = Outcome(luck.random(), luck.random(), 5 * luck.random())
        made.append((row, int(luck.integers(2)), outcome))
    return made


def stacked(rows: list[Array], arms: list[int]) -> Array:
    """The common part first, then a part for each arm."""
    made = np.zeros((len(rows), WIDTH * (1 + len(ARMS))))
    for place, (row, arm) in enumerate(zip(rows, arms, strict=True)):
        made[place, :WIDTH] = row
        made[place, WIDTH * (1 + arm) : WIDTH * (2 + arm)] = row
    return made


def spreads(spread: float) -> Array:
    own = np.full(WIDTH, spread)
    own[0] = SETTINGS.arm_spread
    return np.concatenate([np.full(WIDTH, SETTINGS.common_spread), *[own] * len(ARMS)])


def taught(data: list[tuple[Array, int, Outcome]]) -> Model:
    model = Model(SETTINGS)
    for row, arm, outcome in data:
        model.take(ARMS[arm].name, row, outcome)
    return model


@pytest.mark.parametrize("seen", [WIDTH, 3])
@pytest.mark.parametrize("count", [0, 1, 30, FIRST_FIT - 1])
def test_beliefs_are_those_of_the_whole_regression(count: int, seen: int) -> None:
    data = drawn(count, count, seen)
    posterior = taught(data).posterior(ARMS)
    design = stacked([row for row, _, _ in data], [arm for _, arm, _ in data])
    given = np.array([(o.success, o.cost, o.latency) for _, _, o in data]).reshape(-1, 3)
    before = np.zeros((design.shape[1], 3))
    for place, arm in enumerate(ARMS):
        before[WIDTH * (1 + place)] = (arm.success, arm.cost, arm.latency)
    precision = (
        np.diag(1 / spreads(SETTINGS.task_spread) ** 2) + design.T @ design / SETTINGS.noise**2
    )
    spread = np.linalg.inv(precision)
    weights = before + spread @ (design.T @ (given - design @ before)) / SETTINGS.noise**2
    row = np.concatenate(([1.0], np.linspace(-1, 1, WIDTH - 1)))
    asked = stacked([row] * len(ARMS), list(range(len(ARMS))))
    np.testing.assert_allclose(posterior.expected(row), asked @ weights, atol=1e-8)
    np.testing.assert_allclose(posterior.covariance(row), asked @ spread @ asked.T, atol=1e-8)


@pytest.mark.parametrize(("seed", "seen"), [(0, WIDTH), (1, WIDTH), (2, WIDTH), (3, 3)])
def test_the_fitted_widths_make_the_outcomes_likeliest(seed: int, seen: int) -> None:
    data = drawn(seed, FIRST_FIT, seen)
    model = taught(data)
    design = stacked([row for row, _, _ in data], [arm for _, arm, _ in data])
    worth = np.array([o.success - 0.2 * o.cost - 0.01 * o.latency for _, _, o in data]) - 0.5

    def likelihood(widths: tuple[float, float]) -> Any:
        noise, spread = widths
        covariance = noise**2 * np.eye(len(data)) + (design * spreads(spread) ** 2) @ design.T
        off = worth @ np.linalg.solve(covariance, worth)
        return -0.5 * (np.linalg.slogdet(covariance)[1] + off)

    choices = [(SETTINGS.noise * n, SETTINGS.task_spread * w) for n in NOISES for w in WIDTHS]
    assert model.widths == pytest.approx(max(choices, key=likelihood))


def test_where_words_tell_nothing_arms_are_soon_held_alike_from_task_to_task() -> None:
    luck = np.random.default_rng(0)
    model = Model(SETTINGS)
    for _ in range(512):
        row = np.concatenate(([1.0], luck.normal(size=WIDTH - 1) / np.sqrt(WIDTH)))
        arm = int(luck.integers(2))
        model.take(ARMS[arm].name, row, Outcome(float(luck.random() < (0.7, 0.4)[arm])))
    assert model.widths[1] <= 0.1 * SETTINGS.task_spread
