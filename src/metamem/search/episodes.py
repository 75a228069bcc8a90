"""Which episodes are worth seeing, and a sample of them that fits a budget."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from random import Random

from metamem.core.tokens import count_tokens
from metamem.search.fitting import both_ends, indented, one_line, shortened
from metamem.search.proposer import ParentView, ShownEpisode

TITLE = "### Episodes that were played with it (a sample)"
BEST = 1.0  # the reward of a task that nothing more can be learned from
SHOWN = 12  # episodes of a design that are looked at
WINS = 4  # one in so many of them went well, where there are such
LEAST = 220  # tokens below which an episode tells too little: rather fewer episodes
NAME = 20  # tokens of a task's id or kind
GOAL, ADVICE, OBSERVATION = 0.15, 0.4, 0.2  # of an episode's room, at most


def tasks_to_show(
    view: ParentView, against: Mapping[str, float], luck: Random, count: int = SHOWN
) -> list[str]:
    """Tasks that tell most about a design: what it fails, and what changed against another one.

    Failures come first and are most of them: those that the other one wins, those that any design
    wins, the rest. Then what it does well: first where the other one fails. Every kind of task has
    its turn.
    """
    failed = [task for task, reward in view.rewards.items() if reward < BEST]
    failures = by_kind(failed, view.kinds, luck, lambda t: _loss(t, view, against))
    won = [t for t in view.rewards if t not in set(failed)]
    wins = by_kind(won, view.kinds, luck, lambda t: against.get(t, BEST))
    few = min(len(wins), max(count // WINS, count - len(failures)))
    return [*failures[: count - few], *wins[:few]]


def _loss(task: str, view: ParentView, against: Mapping[str, float]) -> float:
    """The smaller, the more there is to learn from a failure."""
    reward = view.rewards[task]
    if against.get(task, reward) > reward:
        return reward - 2 * BEST
    return reward - BEST if view.others.get(task, reward) > reward else reward


def by_kind(
    tasks: Iterable[str],
    kinds_of: Mapping[str, str],
    luck: Random,
    rank: Callable[[str], float] = lambda task: 0.0,
) -> list[str]:
    """The best ranked of each kind, then the second of each, and so on; equals by chance."""
    kinds: dict[str, list[str]] = {}
    shuffled = sorted(tasks)
    luck.shuffle(shuffled)
    for task in sorted(shuffled, key=rank):
        kinds.setdefault(kinds_of.get(task, ""), []).append(task)
    turns = zip_longest(*(kinds[kind] for kind in sorted(kinds, key=lambda k: rank(kinds[k][0]))))
    return [task for turn in turns for task in turn if task is not None]


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
