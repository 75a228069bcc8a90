"""How the best of a search are played once more, on tasks of train that the search did not choose by.

By successive halving: every rung keeps the better half and plays it on twice as many tasks, of the
domain's reserve where it has one, else with twice the luck. So a rung costs what the one before cost,
and what is left in the end was looked at longest.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from metamem.core.protocols import Domain
from metamem.core.types import Design, Evaluation
from metamem.evaluation.kinds import kind_of
from metamem.evaluation.plans import plan
from metamem.evaluation.rules import Rules
from metamem.runs.config import LearnConfig
from metamem.search.entries import Entry


@dataclass(frozen=True, slots=True)
class Rung:
    designs: int  # the best so many
    rules: Rules
    share: int  # of how many plays of the search's own size; what its result weighs


def rungs(domain: Domain, rules: Rules, config: LearnConfig) -> list[Rung]:
    """The halves of train have changed places: memories learn from the tasks they were chosen by."""
    other = replace(rules, fold=0 if rules.fold else 1)
    deployed = len(plan(domain, "train", other).deployment)
    most = deployed << max(0, config.confirm_seeds - 1)
    shares = kind_of(domain).shares(domain, "train", replace(other, tasks=most))
    offered = len(shares.deployment) + len(shares.further_deployment)
    found = []
    for n in range(config.confirm_seeds):
        share = 1 << n
        left = min(config.confirm, max(config.shortlist, config.confirm >> n))
        larger = replace(other, tasks=deployed * share)
        longer = replace(other, repeats=other.repeats * share)
        found.append(Rung(left, larger if 1 < share <= offered // deployed else longer, share))
    return found


async def confirmed(
    entries: Sequence[Entry],
    number: int,
    ladder: Sequence[Rung],
    play: Callable[[int, Sequence[Design]], Awaitable[Mapping[str, Evaluation]]],
) -> list[Entry]:
    """Those that are left, the best first, by the mean over all their plays, the search's among them."""
    best = sorted(entries, key=lambda e: (-e.estimate.mean, e.evidence.tokens, e.ordinal))[:number]
    plays = {e.design.id: [(1, e.estimate.mean)] for e in best}
    for n, rung in enumerate(ladder):
        best = best[: rung.designs]
        results = await play(n, [e.design for e in best])
        for design_id, evaluation in results.items():
            plays[design_id].append((rung.share, evaluation.reward))
        best.sort(key=lambda e: (-_pooled(plays[e.design.id]), e.evidence.tokens, e.ordinal))
    return best


def _pooled(plays: Sequence[tuple[int, float]]) -> float:
    """A result counts by how many plays it is the mean of."""
    return sum(share * mean for share, mean in plays) / sum(share for share, _ in plays)
