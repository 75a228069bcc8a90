"""Is what a router learned better than giving every task to the same arm? Asked of its own log.

The earlier part of the log is learned from; the later part, which neither the policy nor the choice of its
rival has seen, judges. So chance in what was learned from cannot pass for a gain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from metamem.core.errors import DataError, UsageError
from metamem.evaluation.offpolicy import (
    FEW,
    Decided,
    Estimate,
    Odds,
    difference,
    doubly_robust,
    ips,
    refuse,
    snips,
)
from metamem.routing import Arm, Router, Settings
from metamem.routing.reading import Entry, read_log

LEVEL = 0.05
SHARE = 0.5  # of the log that is learned from
ROUTED, AS_IT_WAS, EVENLY = "routed", "as it was", "evenly"


@dataclass(frozen=True, slots=True)
class Valued:
    """What one policy would have been worth on the later part, by every method."""

    policy: str
    ips: Estimate
    snips: Estimate
    robust: Estimate


@dataclass(frozen=True, slots=True)
class Judged:
    """Routing beside every arm alone."""

    learned_from: int
    judged_by: int
    policies: tuple[Valued, ...]  # routed first
    rival: str  # the best single arm, as the earlier part has it; empty: none was always allowed
    gain: Estimate | None  # of the routed policy over the rival
    lower_bound: float | None  # that the true gain lies below with probability LEVEL at most
    better: bool  # whether a gain is claimed
    reason: str


def judge(log: Sequence[Entry], settings: Settings, *, share: float = SHARE) -> Judged:
    """What the policy that is learned from the earlier part of a log is worth on the later part."""
    if not 0.0 < share < 1.0:
        raise UsageError(f"a share of the log to learn from lies between 0 and 1, not at {share}")
    cut = round(len(log) * share)
    earlier, later = log[:cut], log[cut:]
    router = Router(settings)
    decided = [
        Decided(entry.odds, entry.arm, settings.worth(entry.outcome), entry.where) for entry in log
    ]
    refuse(decided)
    refuse(decided[cut:])
    for entry in earlier:
        router.learn(entry.context, entry.arm, entry.outcome)
    predicted = [router.predicted(e.context, _arms(e)) for e in later]
    routed: list[Odds] = [{max(p, key=lambda arm: (p[arm], arm)): 1.0} for p in predicted]
    policies: dict[str, Sequence[Odds]] = {
        ROUTED: routed,
        AS_IT_WAS: [entry.odds for entry in later],
        EVENLY: [dict.fromkeys(e.odds, 1.0 / len(e.odds)) for e in later],
    }
    always = sorted(set.intersection(*({a for a, p in e.odds.items() if p > 0} for e in log)))
    policies |= {arm: [{arm: 1.0}] * len(later) for arm in always}
    values = tuple(
        Valued(
            name,
            ips(decided[cut:], odds),
            snips(decided[cut:], odds),
            doubly_robust(decided[cut:], odds, predicted),
        )
        for name, odds in policies.items()
        if name not in always or any(e.arm == name for e in later)
    )
    rival = _best_alone(decided[:cut], always)
    if not rival:
        reason = "no arm was allowed at every decision, so there is no single one to beat"
        return Judged(cut, len(later), values, "", None, None, False, reason)
    gain, bound = difference(decided[cut:], routed, policies[rival], predicted, LEVEL)
    better, reason = _claim(gain, bound, rival)
    return Judged(cut, len(later), values, rival, gain, bound, better, reason)


def judge_file(path: Path, settings: Settings) -> Judged:
    """The same of another system's log; whatever makes it useless is the file's fault."""
    entries = read_log(path)
    try:
        return judge(entries, settings)
    except UsageError as error:
        raise DataError(error.message, hint=error.hint) from None


def _claim(gain: Estimate, bound: float, rival: str) -> tuple[bool, str]:
    if gain.effective < FEW:
        return False, f"too little was drawn of what either would do: {gain.note}"
    if bound <= 0.0:
        return False, (
            f"not shown to be better than {rival} alone: the gain of {gain.value:+.3f} may be"
            f" {bound:+.3f} or less"
        )
    return True, f"better than {rival} alone by {gain.value:.3f}, at least {bound:.3f}"


def _arms(entry: Entry) -> list[Arm]:
    """Those that could be drawn, with what was believed of each beforehand."""
    possible = sorted(arm for arm, chance in entry.odds.items() if chance > 0.0)
    return [entry.priors.get(arm, Arm(arm)) for arm in possible]


def _best_alone(earlier: Sequence[Decided], arms: Sequence[str]) -> str:
    """By what the earlier part says of each alone."""
    drawn = [arm for arm in arms if any(each.arm == arm for each in earlier)]
    if len({each.arm for each in earlier}) < 2:
        return drawn[0] if drawn else ""
    alone = {arm: snips(earlier, [{arm: 1.0}] * len(earlier)).value for arm in drawn}
    return max(alone, key=lambda arm: (alone[arm], arm), default="")
