"""The evaluated designs as selectors see them."""

from collections.abc import Mapping, Sequence

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
    ) -> None:
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
        )

    def _share(self, reward: float) -> float:
        return (reward - self._low) / self._span
