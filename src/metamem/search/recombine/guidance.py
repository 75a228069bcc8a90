"""Which operators the evidence speaks for, and why.

Each symptom is a number in 0..1; the more of it, the likelier the operators that can cure it.
Nothing here is about a domain: only about how memories fail.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metamem.search.proposer import Evidence

STRENGTH = 5.0  # how much likelier an operator becomes under the full symptom
LONG_ADVICE = 1500.0  # tokens that count as fully too long


@dataclass(frozen=True)
class Symptom:
    strength: float
    says: str
    cures: tuple[str, ...]


def symptoms(evidence: Evidence) -> list[Symptom]:
    """What is wrong, strongest first."""
    if not evidence.cases:
        return []
    spoken = 1.0 - evidence.empty
    rewards = list(evidence.reward_by_kind.values())
    spread = min(1.0, max(rewards) - min(rewards)) if rewards else 0.0
    too_long = max(evidence.truncated, min(1.0, evidence.tokens / LONG_ADVICE))
    found = [
        Symptom(
            evidence.empty,
            f"memory had nothing to say in {evidence.empty:.0%} of the cases",
            (
                "replace ask",
                "replace key",
                "replace match",
                "replace admit",
                "replace whose",
                "replace think",
                "replace hear",
                "replace weigh",
                "join",
                "add layer",
            ),
        ),
        Symptom(
            evidence.ignored * spoken,
            f"{evidence.ignored:.0%} of the advised cases went just as without advice",
            (
                "replace keep",
                "replace form",
                "replace adapt",
                "replace phrase",
                "replace prefer",
                "replace tell",
                "replace fit",
                "replace answer",
            ),
        ),
        Symptom(
            evidence.hurt * spoken,
            f"{evidence.hurt:.0%} of the advised cases ended worse than without advice",
            (
                "replace match",
                "replace prefer",
                "replace adapt",
                "replace trim",
                "replace where",
                "replace whose",
                "replace heed",
                "replace settle",
                "replace answer",
                "drop layer",
            ),
        ),
        Symptom(
            evidence.vain * spoken * 0.5,
            f"in {evidence.vain:.0%} of the advised cases the agent followed, and gained nothing",
            (
                "replace keep",
                "replace ask",
                "replace think",
                "replace fit",
                "replace where",
                "replace hear",
                "replace weigh",
                "replace settle",
                "add layer",
                "cross",
                "adopt",
            ),
        ),
        Symptom(
            evidence.repeated * (1.0 - evidence.mean_reward) * 0.5,
            f"{evidence.repeated:.0%} of the failing tasks fail every time",
            ("add layer", "cross", "adopt", "replace keep", "replace think", "join", "borrow"),
        ),
        Symptom(
            too_long * 0.6,
            f"the advice takes {evidence.tokens:.0f} tokens, cut in {evidence.truncated:.0%}",
            (
                "replace trim",
                "replace form",
                "change constant",
                "drop layer",
                "replace prefer",
                "replace tell",
            ),
        ),
        Symptom(
            spread * 0.5,
            f"rewards differ by {spread:.2f} between kinds of task",
            ("replace key", "replace match", "add layer", "join", "cross"),
        ),
        Symptom(
            evidence.errors,
            f"the design failed in {evidence.errors:.0%} of the cases",
            ("drop layer", "replace forget", "replace match", "replace keep", "fresh"),
        ),
    ]
    return sorted((s for s in found if s.strength > 0), key=lambda s: -s.strength)


def emphasis(found: Sequence[Symptom]) -> Mapping[str, float]:
    """A factor for each operator that some symptom speaks for."""
    factors: dict[str, float] = {}
    for symptom in found:
        for operator in symptom.cures:
            factors[operator] = factors.get(operator, 1.0) + STRENGTH * symptom.strength
    return factors
