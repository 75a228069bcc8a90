"""The same task played with and without memory: one that memory won, one that it lost."""

from collections.abc import Sequence
from dataclasses import dataclass

from metamem.core.types import Episode
from metamem.evaluation.telling import told
from metamem.store.archive import Trace

OBSERVATION_LETTERS = 400
SHOWN_STEPS = 40


@dataclass(frozen=True, slots=True)
class Side:
    title: str
    reward: float
    actions: int
    steps: tuple[tuple[str, str], ...]  # action and what came back, shortened
    more: int  # steps left out


@dataclass(frozen=True, slots=True)
class Pair:
    """One task, twice."""

    title: str
    task_id: str
    goal: str
    observation: str
    advice: str
    with_memory: Side
    without: Side


def example_pairs(
    learned: Sequence[Trace], no_memory: Sequence[Trace], split: str
) -> tuple[Pair, ...]:
    """At most one gain and one loss, by the plainest difference; nothing is made up."""
    other = {trace.case: trace.episode for trace in no_memory}
    both = [(t.case, t.episode, other[t.case]) for t in learned if t.case in other]
    pairs = []
    gains = [b for b in both if b[1].reward > b[2].reward]
    losses = [b for b in both if b[1].reward < b[2].reward]
    for title, some, sign in (
        ("A task that memory won", gains, 1),
        ("A task that memory lost", losses, -1),
    ):
        if some:
            case, ours, theirs = min(
                some,
                key=lambda b: (
                    sign * (b[2].reward - b[1].reward),
                    len(b[1].steps),
                    b[0].task_id,
                    b[0].repeat,
                ),
            )
            pairs.append(_pair(f"{title} ({split})", case.task_id, ours, theirs))
    return tuple(pairs)


def _pair(title: str, task_id: str, ours: Episode, theirs: Episode) -> Pair:
    return Pair(
        title=title,
        task_id=task_id,
        goal=ours.goal,
        observation=shorten(ours.observation),
        advice=told(ours.advice),
        with_memory=_side("With the learned memory", ours),
        without=_side("Without memory", theirs),
    )


def _side(title: str, episode: Episode) -> Side:
    shown = episode.steps[:SHOWN_STEPS]
    return Side(
        title=title,
        reward=episode.reward,
        actions=len(episode.steps),
        steps=tuple((step.action, shorten(step.observation)) for step in shown),
        more=len(episode.steps) - len(shown),
    )


def shorten(text: str) -> str:
    return text if len(text) <= OBSERVATION_LETTERS else text[:OBSERVATION_LETTERS] + " …"
