"""The search of a run, round by round: after each, the collection tasks are played again."""

from collections.abc import Callable
from dataclasses import replace

from metamem.core.figures import scale_of
from metamem.core.progress import Progress
from metamem.evaluation.evaluator import Evaluator
from metamem.evaluation.rules import Rules
from metamem.runs.config import LearnConfig
from metamem.runs.rounds import Round, share_won
from metamem.search.loop import Search


class SearchInRounds:
    """Who collects in the next round is chosen on train alone: the best of the round before.

    It is a function of the journal and the archive, like the search itself: a run that goes on after
    a kill comes to the same collectors again. When it is over, `evaluator` and `rules` are those of
    the last round, by which everything after it is played.
    """

    def __init__(
        self,
        search: Search,
        config: LearnConfig,
        opened: Callable[[Rules], Evaluator],
        progress: Progress,
    ) -> None:
        self._search, self._config = search, config
        self._opened, self._progress = opened, progress
        self.evaluator, self.rules = search.evaluator, search.evaluator.setup.rules
        self.told: list[Round] = []

    async def run(self) -> None:
        search, rounds = self._search, self._config.rounds
        search.rounds = rounds
        self._phase(len(search.seeds))
        await search.run()
        while search.round < rounds:
            await self._over()
            collector = search.best.design.id
            self.rules = replace(self.rules, collectors=(*self.rules.collectors, collector))
            self.evaluator = self._opened(self.rules)
            self._progress.phase("collecting again", self.evaluator.to_collect("train"))
            await self.evaluator.collected("train")
            self._phase(len(search.seeds) + self._config.confirm)
            await search.renew(self.evaluator, self._config.confirm)
            await search.run()
        if rounds > 1:
            await self._over()

    def _phase(self, anew: int) -> None:
        """`anew`: designs that are played beside this round's share of the budget."""
        number, rounds = len(self.told) + 1, self._config.rounds
        words = "searching" if rounds == 1 else f"searching, round {number} of {rounds}"
        designs = self._config.budget.designs // rounds
        self._progress.phase(words, anew + designs if designs else 0)

    async def _over(self) -> None:
        """A round is: what it brought."""
        episodes, best = (await self.evaluator.episodes("train"))[-1], self._search.best
        rewards = self.evaluator.domain.reward_range
        over = Round(
            number=self._search.round,
            collector=self.rules.collectors[-1] if self.rules.collectors else "",
            episodes=len(episodes),
            won=share_won(episodes, rewards[1]),
            best=best.design.id,
            score=best.estimate.mean,
        )
        self.told.append(over)
        self._progress.note(over.told(scale_of(self.evaluator.domain)))
