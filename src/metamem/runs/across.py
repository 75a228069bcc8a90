"""Do different domains need different memories? Each domain's learned design, played in every one.

A column is a domain with a finished run; every design in it is played under that run's own
conditions, its models included, so what the run's tables hold already is not played again.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import asdict, dataclass, replace

from metamem.core.aside import aside
from metamem.core.errors import MetamemError, UsageError
from metamem.core.progress import Progress, Silent
from metamem.core.types import Design, Evaluation, Fingerprint
from metamem.designs.library import load, needs_model
from metamem.evaluation.evaluator import enter_read
from metamem.evaluation.rules import Rules
from metamem.evaluation.statistics import paired_comparison
from metamem.runs.config import LearnConfig
from metamem.runs.crosstable import AtHome, CrossDomain, CrossRow, CrossTable
from metamem.runs.opening import Stage
from metamem.runs.summary import Summary
from metamem.runs.table import TableRow, table
from metamem.store.archive import Archive, RunRecord

PURPOSE = "across domains"
# Whoever opens a run's executor and its models, for as long as one column is played.
Opener = Callable[[LearnConfig], AbstractAsyncContextManager[Stage]]
NO_REASONS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Column:
    """A domain, by its own name, and the run whose design speaks for it."""

    domain: str
    run: RunRecord
    learned: str
    promoted: bool

    def conditions(self, archive: Archive, split: str) -> Fingerprint:
        """Those of the run's own table, which everything in this column shares."""
        return _of_learned(archive, self.run, split)

    @property
    def config(self) -> LearnConfig:
        return LearnConfig.from_json(self.run.config)

    @property
    def reward_range(self) -> tuple[float, float]:
        return Summary.from_json(self.run.summary).reward_range

    @property
    def humans(self) -> tuple[str, ...]:
        rows = Summary.from_json(self.run.summary).tables["test"]
        return tuple(row.name for row in rows if row.human)

    def refuses(self, design: Design) -> str:
        """Why a design cannot be played here; empty where it can."""
        model = self.config.models.get("memory")
        return "it needs a model" if needs_model(design) and not model else ""


def _of_learned(archive: Archive, run: RunRecord, split: str) -> Fingerprint:
    row = Summary.from_json(run.summary).row(split)
    evaluation = archive.evaluation(row.evaluation) if row is not None else None
    assert evaluation is not None
    return evaluation.fingerprint


def columns(archive: Archive, domains: Sequence[str] = ()) -> list[Column]:
    """For each domain the newest finished run with a design; a promoted one goes first.

    Domains may be named as a run was told or, where that was a path, as they call themselves.
    What was learned for a domain of parameters is nothing anywhere else: it has no column.
    """
    best: dict[str, Column] = {}
    for run in archive.runs():
        summary = Summary.from_json(run.summary)
        if run.state != "finished" or not summary.learned:
            continue
        name = _of_learned(archive, run, "test").domain
        if archive.design(summary.learned).kind != "code":
            if {name, run.config["domain"]["name"]} & set(domains):
                raise UsageError(
                    f"{name} learns parameters, which mean nothing in other domains",
                    hint="name domains of memories, or none for all of them",
                )
            continue
        found = Column(name, run, summary.learned, summary.promoted)
        if name not in best or found.promoted >= best[name].promoted:
            best[name] = found
    told = {column.run.config["domain"]["name"]: column.domain for column in best.values()}
    wanted = [told.get(name, name) for name in domains] or sorted(best)
    return [best[name] for name in dict.fromkeys(wanted) if name in best]


def contestants(archive: Archive, found: Sequence[Column]) -> dict[str, Design]:
    """By name: all human designs of these domains, then what each learned."""
    humans = dict.fromkeys(name for column in found for name in column.humans)
    return {name: load(name) for name in humans} | {
        f"learned for {column.domain}": archive.design(column.learned) for column in found
    }


async def play_across(
    archive: Archive,
    found: Sequence[Column],
    split: str,
    opened: Opener,
    progress: Progress | None = None,
) -> dict[str, str]:
    """Evaluate every contestant in every column; what is there already costs nothing.

    Returns why a column could not be played, by its domain. Nothing is entered in the ledger for
    such a column: what its table lacks cannot be had under its conditions any more.
    """
    watch = progress or Silent()
    designs = (await aside(contestants, archive, found)).values()
    watch.phase(f"playing {split} across domains", len(found) * len(designs))
    reasons: dict[str, str] = {}
    for column in found:
        conditions = await aside(column.conditions, archive, split)
        lacking = []
        for design in designs:
            if await aside(_held, archive, design, conditions):
                read = replace(conditions, design=design.id)
                await aside(enter_read, archive, read, PURPOSE, column.run.id)
            elif not column.refuses(design):
                lacking.append(design)
        watch.advance(len(designs) - len(lacking))
        if lacking:
            reason = await _play_column(archive, column, lacking, conditions, opened, watch)
            if reason:
                reasons[column.domain] = reason
    return reasons


async def _play_column(
    archive: Archive,
    column: Column,
    designs: Sequence[Design],
    conditions: Fingerprint,
    opened: Opener,
    watch: Progress,
) -> str:
    """Why nothing of it can be played; empty where all of it was."""
    config = column.config
    async with AsyncExitStack() as stack:
        try:
            stage = await stack.enter_async_context(opened(config))
            rules = Rules.from_json(conditions.rules)  # who collected is part of them
            evaluator = stage.evaluator(
                lambda row: watch.cases(), watch.note, run_id=column.run.id, rules=rules
            )
        except MetamemError as error:  # a key, a package or data that the run had
            return error.message
        now = evaluator.fingerprint(designs[0], conditions.split)
        if other := _differing(conditions, now):
            return f"its run was played under another {', '.join(other)}"
        for design in designs:
            await evaluator.evaluate(design, conditions.split, purpose=PURPOSE)
            watch.advance()
    return ""


def _differing(then: Fingerprint, now: Fingerprint) -> list[str]:
    old, new = asdict(then), asdict(now)
    return [name.replace("_", " ") for name in old if name != "design" and old[name] != new[name]]


def _held(archive: Archive, design: Design, conditions: Fingerprint) -> Evaluation | None:
    """The whole evaluation under these conditions, if the archive has it."""
    found = archive.evaluation(replace(conditions, design=design.id).id)
    return found if found is not None and found.complete else None


def cross_table(
    archive: Archive,
    found: Sequence[Column],
    split: str,
    reasons: Mapping[str, str] = NO_REASONS,
) -> CrossTable:
    """What the archive holds: a row a design, a cell a domain, and who wins where."""
    designs = contestants(archive, found)
    played: dict[str, dict[str, TableRow]] = {}
    domains = []
    for column in found:
        conditions = column.conditions(archive, split)
        held = {name: _held(archive, design, conditions) for name, design in designs.items()}
        cells = {name: evaluation for name, evaluation in held.items() if evaluation is not None}
        played[column.domain] = {
            row.name: row for row in table(cells, column.humans, column.reward_range)
        }
        refused = {name: column.refuses(designs[name]) for name in designs if name not in cells}
        unplayed = reasons.get(column.domain, "it was not played")
        domains.append(
            CrossDomain(
                name=column.domain,
                run=column.run.id,
                learned=column.learned,
                promoted=column.promoted,
                complete=all(refused.values()),
                missing={name: why or unplayed for name, why in refused.items()},
                winner=_winner(cells),
                home=_at_home(column.domain, cells),
                reward_range=column.reward_range,
            )
        )
    rows = [
        CrossRow(name, {domain: rows[name] for domain, rows in played.items() if name in rows})
        for name in designs
    ]
    return CrossTable(split, tuple(domains), tuple(rows))


def _winner(cells: dict[str, Evaluation]) -> str:
    return max(cells, key=lambda name: cells[name].reward) if cells else ""


def _at_home(domain: str, cells: dict[str, Evaluation]) -> AtHome | None:
    own = cells.get(f"learned for {domain}")
    guests = {n: e for n, e in cells.items() if n.startswith("learned for ") and e is not own}
    if own is None or not guests:
        return None
    best = _winner(guests)
    found = paired_comparison(own.by_task(), guests[best].by_task())
    return AtHome(best, found.gain, found.p_permutation)
