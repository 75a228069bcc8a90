"""All that a report tells about a run, read from the archive."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

from metamem.core import registry
from metamem.core.errors import Erased, MetamemError
from metamem.core.figures import Scale
from metamem.core.protocols import Domain, ParamsDomain
from metamem.core.types import Design, Evaluation, Kind
from metamem.designs.library import NO_MEMORY
from metamem.evaluation.rules import Rules
from metamem.promotion.under import Under
from metamem.report.card import Card, card
from metamem.report.episodes import Pair, example_pairs
from metamem.report.journal import Journal
from metamem.report.values import Value, learned_values
from metamem.runs.across import columns, cross_table
from metamem.runs.config import LearnConfig
from metamem.runs.crosstable import CrossTable
from metamem.runs.learn import CONTROL
from metamem.runs.summary import Summary
from metamem.runs.table import LEARNED, best_human
from metamem.search.learnables import Learnable
from metamem.store.archive import Archive, state_now
from metamem.store.records import PromotionRecord, ReadRecord, RunRecord, Trace


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
    summary: Summary
    state: str
    config: LearnConfig
    journal: Journal
    control: Journal
    names: dict[str, str]  # of designs that have one
    learned: Design | None
    parent: Design | None
    kind: Kind  # of what was learned
    blind: str  # what the control does
    card: Card | None  # of a memory
    values: tuple[Value, ...]  # of a set of parameters
    pairs: tuple[Pair, ...]
    differences: tuple[Differences, ...]
    conditions: Mapping[str, Any]  # the fingerprint of the learned design's first evaluation shown
    reads: list[ReadRecord]
    promotions: list[PromotionRecord]
    under: Under  # what it was learned under
    across: CrossTable | None  # over all domains; None where none was made

    @property
    def scale(self) -> Scale:
        return self.summary.scale

    @property
    def domain(self) -> str:
        """As the domain calls itself, where an evaluation tells."""
        return str(self.conditions.get("domain") or registry.plain(self.config.domain.name))


def gather(archive: Archive, run_id: str) -> Story:
    run = archive.run(run_id)
    config = LearnConfig.from_json(run.config)
    journal = Journal.read(archive, run_id)
    summary = Summary.from_json(run.summary)
    learned = archive.design(summary.learned) if summary.learned else None
    parent_id = journal.parent(learned.id) if learned else None
    shown = _evaluations(archive, summary)
    first = next((found[LEARNED] for found in shown.values() if LEARNED in found), None)
    parent = archive.design(parent_id) if parent_id else None
    decided = archive.promotions(run_id)
    kind, domain = _kind(archive, learned, journal), _domain(config)
    learnable: Learnable = registry.create("learnables", kind)
    return Story(
        run=run,
        summary=summary,
        state=state_now(archive, run),
        config=config,
        journal=journal,
        control=Journal.read(archive, f"{run_id}/{CONTROL}"),
        names={d.id: d.name for d in archive.designs() if d.name},
        learned=learned,
        parent=parent,
        kind=kind,
        blind=learnable.blind.name,
        card=_card(archive, learned, config, shown) if kind == "code" else None,
        values=_values(learned, parent, domain, summary) if kind == "params" else (),
        pairs=_pairs(archive, shown),
        differences=_differences(summary, domain, shown),
        conditions=_conditions(first, kind) if first else {},
        reads=archive.reads(run_id),
        promotions=[p for p in archive.promotions() if learned and p.subject.id == learned.id],
        under=Under.of(decided[0].evidence) if decided else Under(),
        across=_across(archive) if kind == "code" else None,
    )


def _kind(archive: Archive, learned: Design | None, journal: Journal) -> Kind:
    if learned is not None:
        return learned.kind
    return archive.design(next(iter(journal.by_design))).kind if journal.by_design else "code"


def _domain(config: LearnConfig) -> Domain | None:
    """None where its package or its data is not at hand."""
    try:
        made: Domain = registry.create("domains", config.domain.name, **config.domain.settings)
    except MetamemError:
        return None
    return made


def _values(
    learned: Design | None, parent: Design | None, domain: Domain | None, summary: Summary
) -> tuple[Value, ...]:
    if learned is None:
        return ()
    known = cast(ParamsDomain, domain).space if domain is not None else None
    parts = summary.explanation.parts if summary.explanation else ()
    return learned_values(learned, parent, known, parts)


def _conditions(evaluation: Evaluation, kind: Kind) -> dict[str, Any]:
    """The fingerprint for people: what stands for all tasks in its stored form says so."""
    rules = evaluation.fingerprint.rules
    if kind == "params":  # the other rules are about advice and episodes
        counting = {name: rules[name] for name in ("repeats", "fold", "tasks") if name in rules}
        return {**asdict(evaluation.fingerprint), "rules": counting}
    collect = Rules.from_json(rules).collect
    told = {"collect": "all" if collect is None else collect}
    return {**asdict(evaluation.fingerprint), "rules": {**rules, **told}}


def _across(archive: Archive) -> CrossTable | None:
    found = columns(archive)
    if len(found) < 2:
        return None
    table = cross_table(archive, found, "test")
    return table if table.complete else None


Shown = dict[str, dict[str, Evaluation]]  # split → row's name → evaluation


def _evaluations(archive: Archive, summary: Summary) -> Shown:
    found: Shown = {}
    for split, rows in summary.tables.items():
        for row in rows:
            evaluation = archive.evaluation(row.evaluation)
            if evaluation is not None:
                found.setdefault(split, {})[row.name] = evaluation
    return found


def _card(
    archive: Archive, learned: Design | None, config: LearnConfig, shown: Shown
) -> Card | None:
    for found in shown.values():
        if learned is not None and LEARNED in found:
            evaluation = found[LEARNED]
            return card(
                learned.source,
                evaluation,
                found.get(NO_MEMORY),
                _traces(archive, evaluation),
                config.rules,
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
        if LEARNED in found and NO_MEMORY in found:
            pairs = example_pairs(
                _traces(archive, found[LEARNED]), _traces(archive, found[NO_MEMORY]), split
            )
            if pairs:
                return pairs
    return ()


def _differences(summary: Summary, domain: Domain | None, shown: Shown) -> tuple[Differences, ...]:
    made = []
    for split, found in shown.items():
        best = best_human(summary.tables[split])
        if best is None or LEARNED not in found or best[0].name not in found:
            continue
        against = best[0].name
        ours, theirs = found[LEARNED].by_task(), found[against].by_task()
        gains = {task: ours[task] - theirs[task] for task in ours if task in theirs}
        made.append(Differences(split, against, gains, _kinds(domain, split)))
    return tuple(made)


def _kinds(domain: Domain | None, split: str) -> dict[str, str]:
    """The group of each task. Without the domain's data the report does without groups."""
    if domain is None:
        return {}
    try:
        return {task.id: task.kind for task in domain.tasks(split)}
    except MetamemError:
        return {}
