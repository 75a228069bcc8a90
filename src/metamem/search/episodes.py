"""A sample of episodes that fits a budget: of every sort some, whole or with a gap in the middle."""

from collections.abc import Sequence
from itertools import zip_longest
from random import Random

from metamem.core.tokens import count_tokens
from metamem.search.fitting import both_ends, indented, one_line, shortened
from metamem.search.proposer import ShownEpisode

TITLE = "### Episodes that were played with it (a sample)"
LEAST = 220  # tokens below which an episode tells too little: rather fewer episodes
NAME = 20  # tokens of a task's id or kind
GOAL, ADVICE, OBSERVATION = 0.15, 0.4, 0.2  # of an episode's room, at most


def shown_episodes(episodes: Sequence[ShownEpisode], luck: Random, tokens: int) -> str:
    """The sample as text; nothing where there is no room for even one."""
    left = tokens - count_tokens(TITLE)
    chosen = in_turn(episodes, luck)[: max(0, left // LEAST)]
    parts = []
    for place, episode in enumerate(chosen):
        parts.append(_episode(episode, left // (len(chosen) - place)))
        left -= count_tokens(parts[-1])
    return "\n\n".join([TITLE, *parts]) if parts else ""


def in_turn(episodes: Sequence[ShownEpisode], luck: Random) -> list[ShownEpisode]:
    """All of them in the order in which they are to be shown: each sort in its turn.

    Sorts: another design did better; no reward, or less than none; the rest, which went well.
    """
    better = [e for e in episodes if e.best_other > e.reward]
    failed = [e for e in episodes if e.best_other <= e.reward <= 0]
    well = [e for e in episodes if e.best_other <= e.reward and e.reward > 0]
    for sort in (better, failed, well):
        luck.shuffle(sort)
    turns = zip_longest(better, failed, well)
    return [episode for turn in turns for episode in turn if episode is not None]


def _episode(episode: ShownEpisode, tokens: int) -> str:
    """One episode in at most so many tokens; only its frame is never cut."""
    kind = f" ({one_line(shortened(episode.kind, NAME))})" if episode.kind else ""
    goal = one_line(shortened(episode.goal, int(tokens * GOAL)))
    head = (
        f"#### Task {one_line(shortened(episode.task_id, NAME))}{kind}: reward {episode.reward:.2f}, "
        f"the best of other designs {episode.best_other:.2f}\n\nGoal: {goal}\n\n"
    )
    if not episode.advice.strip():
        head += "Advice: none.\n\n"
    else:
        advice = indented(shortened(episode.advice, int(tokens * ADVICE)))
        head += f"Advice{_effect(episode.changed)}:\n\n{advice}\n\n"
    head += "What happened:\n\n"
    left = tokens - count_tokens(head)
    steps = [_step(*step, max(2, int(tokens * OBSERVATION))) for step in episode.steps]
    return head + indented("\n".join(both_ends(steps, max(0, left))))


def _effect(changed: bool | None) -> str:
    if changed is None:
        return ""
    how = "otherwise than" if changed else "just as"
    return f" (the agent acted {how} without it)"


def _step(action: str, observation: str, tokens: int) -> str:
    seen = shortened(observation, tokens)
    return f"> {one_line(shortened(action, tokens))}\n{seen}" if action else seen
