"""The evaluated designs as selectors see them."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev

from metamem.core.ids import derive_seed
from metamem.search.entries import Entry
from metamem.search.selectors import Candidate, Selector


class Pool:
    """Rewards are shares of the domain's range here: selectors' settings are for 0 to 1."""

    def __init__(
        self,
        entries: Sequence[Entry],
        visits: Mapping[str, int],
        reward_range: tuple[float, float],
        kinds: Mapping[str, str],
    ) -> None:
        """`kinds` maps tasks to what they are reported under."""
        self._kinds = kinds
        self._typical = _typical(entries)
        self._low, self._span = reward_range[0], reward_range[1] - reward_range[0]
        self.candidates = [self._candidate(e, visits.get(e.design.id, 0)) for e in entries]

    def choose(self, selector: Selector, k: int, reference: float, seed: int) -> list[str]:
        """k ids; a selector draws without replacement, so a small pool is drawn again."""
        ids: list[str] = []
        while len(ids) < k:
            draw = min(k - len(ids), len(self.candidates))
            ids += selector.select(
                self.candidates,
                draw,
                reference=self._share(reference),
                seed=derive_seed(seed, len(ids)),
            )
        return ids

    def _candidate(self, entry: Entry, visits: int) -> Candidate:
        cases = max(1, entry.evidence.cases)
        return Candidate(
            id=entry.design.id,
            parents=entry.parents,
            mean=self._share(entry.estimate.mean),
            se=entry.estimate.se / self._span,
            visits=visits,
            order=entry.ordinal,
            advice_tokens=entry.evidence.tokens,
            model_calls=sum(r.model_calls for r in entry.evaluation.rows) / cases,
            complete=entry.estimate.complete,
            steps=sum(r.steps for r in entry.evaluation.rows) / cases,
            doubt=self._doubt(entry) / self._span,
            by_kind=self._by_kind(entry.rewards),
        )

    def _doubt(self, entry: Entry) -> float:
        """All designs play the same tasks: what is hard for all says nothing of one of them."""
        if not entry.estimate.complete or len(entry.rewards) < 2:
            return entry.estimate.se
        own = [reward - self._typical[task] for task, reward in entry.rewards.items()]
        return stdev(own) / math.sqrt(len(own))

    def _by_kind(self, rewards: Mapping[str, float]) -> dict[str, tuple[float, int]]:
        found: defaultdict[str, list[float]] = defaultdict(list)
        for task, reward in rewards.items():
            found[self._kinds.get(task, "")].append(self._share(reward))
        return {kind: (fmean(shares), len(shares)) for kind, shares in found.items()}

    def _share(self, reward: float) -> float:
        return (reward - self._low) / self._span


def _typical(entries: Sequence[Entry]) -> dict[str, float]:
    """The mean reward of each task, over all designs that played it."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for entry in entries:
        for task, reward in entry.rewards.items():
            found[task].append(reward)
    return {task: fmean(rewards) for task, rewards in found.items()}
