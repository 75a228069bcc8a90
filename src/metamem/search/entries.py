"""The evaluated designs of a search, and how proposers see them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from metamem.core.types import Design, Evaluation
from metamem.evaluation.racing import Estimate
from metamem.search.proposer import Ancestor, Evidence, ParentView, ShownEpisode
from metamem.store.archive import Trace

HUMAN = "human"
AGAIN = "\n\n(asked again)\n\n"  # between pieces of advice where memory was asked more than once


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


class Views:
    """Every design as a proposer sees it: a function of the entries there were when made."""

    def __init__(
        self,
        entries: Sequence[Entry],
        fruitless: Mapping[str, Sequence[str]],
        kinds: Mapping[str, str],
        traces: Callable[[str], Sequence[Trace]],
    ) -> None:
        """The first entry is no memory: what agents do without advice."""
        self._by_id = {entry.design.id: entry for entry in entries}
        self._without = entries[0].evaluation
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
            evidence=entry.evidence,
            lineage=tuple(self._relative(each) for each in line[1:]),
            origin=self._relative(entry),
            children=tuple(self._relative(each) for each in self._children(design_id)),
            fruitless=tuple(reversed(self._fruitless.get(design_id, ()))),
            rewards=entry.rewards,
            before=line[1].rewards if len(line) > 1 else {},
            others=others,
            kinds=self._kinds,
            episodes=lambda: self._episodes(entry, others),
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
        )

    def _others(self, entry: Entry) -> dict[str, float]:
        found = {}
        for task, best in self._best.items():
            theirs = [reward for reward, design in best if design != entry.design.id]
            if theirs:
                found[task] = theirs[0]
        return found

    def _episodes(self, entry: Entry, others: Mapping[str, float]) -> list[ShownEpisode]:
        did = {row.case: row.actions_digest for row in entry.evaluation.rows}
        undirected = {row.case: row.actions_digest for row in self._without.rows}
        shown = []
        for trace in self._traces(entry.evaluation.id):
            episode, task = trace.episode, trace.case.task_id
            steps = [("", episode.observation)]
            steps += [(step.action, step.observation) for step in episode.steps]
            shown.append(
                ShownEpisode(
                    task_id=task,
                    kind=self._kinds.get(task, ""),
                    goal=episode.goal,
                    reward=episode.reward,
                    best_other=others.get(task, 0.0),
                    advice=AGAIN.join(a.text for a in episode.advice if a.text),
                    changed=_changed(did.get(trace.case), undirected.get(trace.case)),
                    steps=tuple(steps),
                )
            )
        return shown


def _changed(did: str | None, without: str | None) -> bool | None:
    """Whether two digests of actions differ, where both are known."""
    return did != without if did and without else None
