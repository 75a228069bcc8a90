"""The evaluated designs of a search, and how proposers see them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from metamem.core.types import Design, Episode, Evaluation
from metamem.evaluation.racing import Estimate
from metamem.evaluation.telling import told
from metamem.search.proposer import Ancestor, Evidence, ParentView, ShownEpisode
from metamem.search.score import Score
from metamem.store.archive import Trace

HUMAN = "human"
LENDERS = 2  # further designs a proposer may take parts from
TYPICAL_RANK = 3.0  # how far down the list of complements they typically stand
FEW_TASKS = 20


@dataclass(frozen=True, slots=True)
class Entry:
    """One design of this search that was evaluated."""

    ordinal: int
    design: Design
    parents: tuple[str, ...]
    operator: str
    note: str
    estimate: Estimate
    evaluation: Evaluation
    evidence: Evidence
    rewards: Mapping[str, float]  # by task

    @property
    def human(self) -> bool:
        return self.operator == HUMAN


def lenders(entries: Sequence[Entry], parent: str, seed: int) -> list[str]:
    """Designs that win tasks where the parent loses: their parts may fill its gaps.

    Drawn by rank, so that mostly the best complements are lent, and sometimes any other.
    """
    ours = next(e for e in entries if e.design.id == parent).rewards

    def fills(entry: Entry) -> float:
        theirs = entry.rewards
        shared = [task for task in theirs if task in ours]
        won = sum(max(0.0, theirs[task] - ours[task]) for task in shared)
        return won / (len(shared) + FEW_TASKS)  # a few lucky tasks prove little

    others = [e for e in entries if e.design.id != parent]
    ranked = sorted(others, key=lambda e: (-fills(e), e.ordinal))
    luck = Random(seed)
    picked: list[str] = []
    while ranked and len(picked) < LENDERS:
        place = min(int(luck.expovariate(1 / TYPICAL_RANK)), len(ranked) - 1)
        picked.append(ranked.pop(place).design.id)
    return picked


def shown_episode(
    episode: Episode, kind: str, best_other: float, changed: bool | None
) -> ShownEpisode:
    """An episode as proposers see it."""
    steps = [("", episode.observation)]
    steps += [(step.action, step.observation) for step in episode.steps]
    return ShownEpisode(
        task_id=episode.task_id,
        kind=kind,
        goal=episode.goal,
        reward=episode.reward,
        best_other=best_other,
        advice=told(episode.advice),
        changed=changed,
        steps=tuple(steps),
        possible=(episode.actions, *(step.actions for step in episode.steps)),
    )


class Views:
    """Every design as a proposer sees it: a function of the entries there were when made."""

    def __init__(
        self,
        entries: Sequence[Entry],
        fruitless: Mapping[str, Sequence[str]],
        kinds: Mapping[str, str],
        traces: Callable[[Entry, Sequence[str]], Awaitable[Sequence[Trace]]],
        reference: Evaluation,
        reward_range: tuple[float, float],
    ) -> None:
        """`reference` is what things are worth where nothing was learned."""
        self._range = reward_range
        self._by_id = {entry.design.id: entry for entry in entries}
        self._without = reference
        self._fruitless, self._kinds, self._traces = fruitless, kinds, traces
        self._best: dict[str, list[tuple[float, str]]] = {}  # of each task, the best two
        for entry in entries:
            for task, reward in entry.rewards.items():
                best = [*self._best.get(task, []), (reward, entry.design.id)]
                self._best[task] = sorted(best, key=lambda pair: -pair[0])[:2]

    def view(self, design_id: str) -> ParentView:
        entry = self._by_id[design_id]
        line = self._line(entry)
        others = self._others(entry)
        return ParentView(
            design=entry.design,
            mean=entry.estimate.mean,
            score=self._score(entry),
            evidence=entry.evidence,
            lineage=tuple(self._relative(each) for each in line[1:]),
            origin=self._relative(entry),
            children=tuple(self._relative(each) for each in self._children(design_id)),
            fruitless=tuple(reversed(self._fruitless.get(design_id, ()))),
            rewards=entry.rewards,
            before=line[1].rewards if len(line) > 1 else {},
            others=others,
            kinds=self._kinds,
            episodes=lambda tasks: self._episodes(entry, others, tasks),
        )

    def _line(self, entry: Entry) -> list[Entry]:
        """The entry, its first parent, and so on."""
        line = [entry]
        while line[-1].parents[:1] and line[-1].parents[0] in self._by_id:
            line.append(self._by_id[line[-1].parents[0]])
        return line

    def _children(self, design_id: str) -> list[Entry]:
        """The newest first."""
        made = [e for e in self._by_id.values() if e.parents[:1] == (design_id,)]
        return sorted(made, key=lambda entry: -entry.ordinal)

    def _relative(self, entry: Entry) -> Ancestor:
        parent = self._by_id.get(entry.parents[0]) if entry.parents else None
        return Ancestor(
            entry.design.id,
            entry.operator,
            entry.note,
            entry.estimate.mean,
            entry.estimate.mean - parent.estimate.mean if parent else None,
            self._score(entry),
        )

    def _score(self, entry: Entry) -> Score:
        return Score.of_estimate(entry.estimate, len(self._kinds), self._range)

    def _others(self, entry: Entry) -> dict[str, float]:
        found = {}
        for task, best in self._best.items():
            theirs = [reward for reward, design in best if design != entry.design.id]
            if theirs:
                found[task] = theirs[0]
        return found

    async def _episodes(
        self, entry: Entry, others: Mapping[str, float], tasks: Sequence[str]
    ) -> list[ShownEpisode]:
        did = {row.case: row.actions_digest for row in entry.evaluation.rows}
        undirected = {row.case: row.actions_digest for row in self._without.rows}
        shown = []
        for trace in await self._traces(entry, [t for t in tasks if t in entry.rewards]):
            task = trace.case.task_id
            kind, best_other = self._kinds.get(task, ""), others.get(task, self._range[0])
            changed = _changed(did.get(trace.case), undirected.get(trace.case))
            shown.append(shown_episode(trace.episode, kind, best_other, changed))
        return shown


def _changed(did: str | None, without: str | None) -> bool | None:
    """Whether two digests of actions differ, where both are known."""
    return did != without if did and without else None
