"""What earlier proposals say about operators and blocks: a pure function of the history.

The credit of an arm is its mean improvement (a loss, a rejection and a copy count as none: the
archive keeps the parent anyway), with older outcomes counting less, drawn towards the mean of
all arms while it has few outcomes. An arm's weight is its credit relative to that mean, within
bounds, so that no arm ever dies and an arm without outcomes is as likely as the average one.
"""

from collections.abc import Callable, Mapping, Sequence

from metamem.search.proposer import OperatorOutcome

DECAY = 0.99  # of an outcome's weight with each later outcome
PRIOR = 5.0  # outcomes at the overall mean that every arm starts with
LEAST, MOST = 0.3, 6.0
SEPARATOR = " + "  # between the labels of the operators of one proposal


def weights(
    history: Sequence[OperatorOutcome], arm_of: Callable[[str], str]
) -> Mapping[str, float]:
    """A weight for every arm in the history; 1 is average. `arm_of` may name no arm: empty."""
    gained: dict[str, float] = {}
    tried: dict[str, float] = {}
    for age, outcome in enumerate(reversed(history)):
        labels = outcome.operator.split(SEPARATOR)
        improvement = max(outcome.gain or 0.0, 0.0)
        for arm in filter(None, map(arm_of, labels)):
            share = DECAY**age / len(labels)
            tried[arm] = tried.get(arm, 0.0) + share
            gained[arm] = gained.get(arm, 0.0) + share * improvement
    overall = sum(gained.values()) / sum(tried.values()) if tried else 0.0
    if overall <= 0:
        return {}
    return {
        arm: min(MOST, max(LEAST, (gained[arm] / overall + PRIOR) / (tried[arm] + PRIOR)))
        for arm in tried
    }
