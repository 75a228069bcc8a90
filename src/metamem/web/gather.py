"""All that a report tells about a run, read from the archive."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from metamem.core import registry
from metamem.core.errors import Erased, MetamemError
from metamem.core.types import Design, Evaluation
from metamem.designs.library import NO_MEMORY
from metamem.evaluation.protocol import Protocol
from metamem.search.across import columns, cross_table
from metamem.search.config import LearnConfig
from metamem.search.learn import CONTROL
from metamem.store.archive import Archive, state_now
from metamem.store.records import PromotionRecord, ReadRecord, RunRecord, Trace
from metamem.web.card import Card, card
from metamem.web.episodes import Pair, example_pairs
from metamem.web.headline import best_human, ordered
from metamem.web.journal import Journal


@dataclass(frozen=True, slots=True)
class Differences:
    """The learned design minus the best human one on a split, task by task."""

    split: str
    against: str
    gains: dict[str, float]
    kinds: dict[str, str]


@dataclass(frozen=True, slots=True)
class Story:
    run: RunRecord
    state: str
    config: LearnConfig
    journal: Journal
    control: Journal
    names: dict[str, str]  # of designs that have one
    learned: Design | None
    parent: Design | None
    card: Card | None
    pairs: tuple[Pair, ...]
    differences: tuple[Differences, ...]
    conditions: Mapping[str, Any]  # the fingerprint of the learned design's first evaluation shown
    reads: list[ReadRecord]
    promotions: list[PromotionRecord]
    across: Mapping[str, Any]  # the table over all domains; empty where none was made

    @property
    def domain(self) -> str:
        """As the domain calls itself, where an evaluation tells."""
        return str(self.conditions.get("domain") or registry.plain(self.config.domain.name))

    @property
    def summary(self) -> Mapping[str, Any]:
        return self.run.summary


def gather(archive: Archive, run_id: str) -> Story:
    run = archive.run(run_id)
    config = LearnConfig.from_json(run.config)
    journal = Journal.read(archive, run_id)
    learned_id = run.summary.get("learned")
    learned = archive.design(learned_id) if learned_id else None
    parent_id = journal.parent(learned_id) if learned_id else None
    shown = _evaluations(archive, run.summary)
    first = next((found["learned"] for found in shown.values() if "learned" in found), None)
    return Story(
        run=run,
        state=state_now(archive, run),
        config=config,
        journal=journal,
        control=Journal.read(archive, f"{run_id}/{CONTROL}"),
        names={d.id: d.name for d in archive.designs() if d.name},
        learned=learned,
        parent=archive.design(parent_id) if parent_id else None,
        card=_card(archive, learned, config, shown),
        pairs=_pairs(archive, shown),
        differences=_differences(run.summary, config, shown),
        conditions=_conditions(first) if first else {},
        reads=[read for read in archive.reads() if read.run_id == run_id],
        promotions=[p for p in archive.promotions() if learned_id and p.subject.id == learned_id],
        across=_across(archive),
    )


def _conditions(evaluation: Evaluation) -> dict[str, Any]:
    """The fingerprint for people: what stands for all tasks in its stored form says so."""
    stored = evaluation.fingerprint.to_json()
    collect = Protocol.from_json(stored["protocol"]).collect
    told = {"collect": "all" if collect is None else collect}
    return {**stored, "protocol": {**stored["protocol"], **told}}


def _across(archive: Archive) -> Mapping[str, Any]:
    found = columns(archive)
    if len(found) < 2:
        return {}
    table = cross_table(archive, found, "test")
    return table if all(domain["complete"] for domain in table["domains"]) else {}


Shown = dict[str, dict[str, Evaluation]]  # split → row's name → evaluation


def _evaluations(archive: Archive, summary: Mapping[str, Any]) -> Shown:
    found: Shown = {}
    for split, rows in ordered(summary.get("tables", {})).items():
        for row in rows:
            evaluation = archive.evaluation(row["evaluation"])
            if evaluation is not None:
                found.setdefault(split, {})[row["name"]] = evaluation
    return found


def _card(
    archive: Archive, learned: Design | None, config: LearnConfig, shown: Shown
) -> Card | None:
    for found in shown.values():
        if learned is not None and "learned" in found:
            evaluation = found["learned"]
            return card(
                learned.source,
                evaluation,
                found.get(NO_MEMORY),
                _traces(archive, evaluation),
                config.rules.ask_every,
            )
    return None


def _traces(archive: Archive, evaluation: Evaluation) -> list[Trace]:
    """How cases were played; a report can do without, where that was erased."""
    try:
        return archive.traces(evaluation.id)
    except Erased:
        return []


def _pairs(archive: Archive, shown: Shown) -> tuple[Pair, ...]:
    """From the first split that has any."""
    for split, found in shown.items():
        if "learned" in found and NO_MEMORY in found:
            pairs = example_pairs(
                _traces(archive, found["learned"]), _traces(archive, found[NO_MEMORY]), split
            )
            if pairs:
                return pairs
    return ()


def _differences(
    summary: Mapping[str, Any], config: LearnConfig, shown: Shown
) -> tuple[Differences, ...]:
    made = []
    for split, found in shown.items():
        human = best_human(summary["tables"][split])
        if human is None or "learned" not in found or human["name"] not in found:
            continue
        ours, theirs = found["learned"].by_task(), found[human["name"]].by_task()
        gains = {task: ours[task] - theirs[task] for task in ours if task in theirs}
        made.append(Differences(split, human["name"], gains, _kinds(config, split)))
    return tuple(made)


def _kinds(config: LearnConfig, split: str) -> dict[str, str]:
    """The group of each task. Without the domain's data the report does without groups."""
    try:
        domain = registry.create("domains", config.domain.name, **config.domain.settings)
        return {task.id: task.kind for task in domain.tasks(split)}
    except MetamemError:
        return {}
