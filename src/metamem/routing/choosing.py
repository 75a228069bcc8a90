"""Drawing an arm for a task: by how likely each is the best, and never below the floor.

The odds of all arms are worked out first, and the arm is drawn from just these odds. So the propensity
that is logged is the one by which chance was drawn, to the last digit.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.random import Generator

from metamem.core.errors import UsageError
from metamem.core.ids import derive_seed
from metamem.routing.features import Vector, bucket, features, terms
from metamem.routing.model import Matrix, Model
from metamem.routing.settings import USUAL, Settings
from metamem.routing.words import MOST_ARMS, Arm, Belief, Choice, Context, Outcome, Seen

DRAWS = 256  # of beliefs, from which the odds are counted
TELLING = 3  # words that are named for an arm
LEAST_TELLING = 0.0005  # of a success, below which a word says nothing
Speaking = tuple[tuple[str, float], ...]  # words, and by how much each moves the worth


class Router:
    """Learns from outcomes, and says who gets a task. The same history and seed give the same arm."""

    def __init__(self, settings: Settings = USUAL, history: Iterable[Seen] = ()) -> None:
        self.settings = settings
        self._model = Model(settings)
        for seen in history:
            self.learn(seen.context, seen.arm, seen.outcome)

    @property
    def outcomes(self) -> int:
        """How many it has learned from."""
        return self._model.total

    def learn(
        self, context: Context, arm: str, outcome: Outcome, number: int | None = None
    ) -> None:
        """Take in what came of a task; `number` says which decision it was, where some come late."""
        self._model.take(arm, self._row(context), outcome, number)

    def choose(self, context: Context, arms: Sequence[Arm | str], seed: int) -> Choice:
        """Draw one of the arms that are allowed."""
        luck = np.random.default_rng(derive_seed("route", seed))
        beliefs = self.beliefs(context, arms, luck)
        reached = np.cumsum([belief.propensity for belief in beliefs])
        drawn = int(np.searchsorted(reached, luck.random() * reached[-1], side="right"))
        chosen = beliefs[min(drawn, len(beliefs) - 1)]
        return Choice(chosen.arm, chosen.propensity, beliefs)

    def best(self, context: Context, arms: Sequence[Arm | str]) -> str:
        """The arm that is expected to be worth most, with nothing left to chance."""
        predicted = self.predicted(context, arms)
        return max(predicted, key=lambda name: predicted[name])

    def predicted(self, context: Context, arms: Sequence[Arm | str]) -> dict[str, float]:
        """What each arm is expected to be worth."""
        allowed = checked_arms(arms)
        expected = self._model.posterior(allowed).expected(self._row(context))
        return dict(zip((a.name for a in allowed), self._worth(expected).tolist(), strict=True))

    def worth(self, outcome: Outcome) -> float:
        """Success less what cost and latency take off."""
        return self.settings.worth(outcome)

    def beliefs(
        self, context: Context, arms: Sequence[Arm | str], luck: Generator
    ) -> tuple[Belief, ...]:
        """What is expected of each arm on a task, and how likely each is to be drawn."""
        allowed = checked_arms(arms)
        row = self._row(context)
        posterior = self._model.posterior(allowed)
        expected = posterior.expected(row)
        worth, covariance = self._worth(expected), posterior.covariance(row)
        odds = self._odds(worth, covariance, luck)
        return tuple(
            Belief(
                arm=arm.name,
                success=float(expected[n, 0]),
                cost=float(expected[n, 1]),
                latency=float(expected[n, 2]),
                worth=float(worth[n]),
                spread=float(np.sqrt(max(covariance[n, n], 0.0))),
                seen=self._model.seen(arm.name),
                propensity=float(odds[n]),
                before=(arm.success, arm.cost, arm.latency),
            )
            for n, arm in enumerate(allowed)
        )

    def speaking(self, context: Context, arms: Sequence[Arm | str]) -> dict[str, Speaking]:
        """For each arm the words that move its worth furthest from the average of those allowed."""
        allowed = checked_arms(arms)
        leaning = self._worth(self._model.posterior(allowed).weights)
        apart = leaning - leaning.mean(axis=0)
        found: dict[str, list[tuple[str, float]]] = {arm.name: [] for arm in allowed}
        for term in terms(context):
            place, sign = bucket(term.name, self.settings.dimensions)
            for n, arm in enumerate(allowed):
                found[arm.name].append((term.name, float(apart[n, place] * sign * term.weight)))
        return {
            name: tuple(
                (term, round(moved, 4))
                for term, moved in sorted(each, key=lambda pair: (-abs(pair[1]), pair[0]))[:TELLING]
                if abs(moved) > LEAST_TELLING
            )
            for name, each in found.items()
        }

    def _row(self, context: Context) -> Vector:
        return features(context, self.settings.dimensions)

    def _worth(self, expected: Matrix) -> Vector:
        s = self.settings
        return np.asarray(expected @ np.array((1.0, -s.cost_weight, -s.latency_weight)))

    def _odds(self, worth: Vector, covariance: Matrix, luck: Generator) -> Vector:
        """How often each arm is the best, over beliefs drawn from what is believed; then the floor."""
        count, s = len(worth), self.settings
        wins = np.zeros(count)
        if s.boldness > 0:
            values, vectors = np.linalg.eigh(covariance)
            root = vectors * np.sqrt(np.clip(values, 0.0, None)) * s.boldness
            drawn = worth + luck.standard_normal((DRAWS, count)) @ root.T
            wins += np.bincount(np.argmax(drawn, axis=1), minlength=count)
        else:
            wins[int(np.argmax(worth))] = 1.0
        odds = s.floor / count + (1.0 - s.floor) * wins / wins.sum()
        return np.asarray(odds / odds.sum())


def checked_arms(arms: Sequence[Arm | str]) -> tuple[Arm, ...]:
    """The allowed set: at least one arm, each only once."""
    found = tuple(Arm(arm) if isinstance(arm, str) else arm for arm in arms)
    if not found:
        raise UsageError("no arm is allowed, so that nobody can get the task", hint="name one")
    if len(found) > MOST_ARMS:
        raise UsageError(f"{len(found)} arms are too many", hint=f"{MOST_ARMS} at most")
    names = [arm.name for arm in found]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"the arm {twice!r} is named twice")
    return found
