"""The small Python API. The command line is a thin layer on it.

import metamem

result = metamem.learn("alfworld", designs=60)
with metamem.open_memory(result.learned, path="my-memory") as memory:
    advice = memory.retrieve("put a clean mug in the cabinet")
    memory.update(experience)
"""

import json
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from metamem.core import registry
from metamem.core.aside import aside
from metamem.core.blocking import blocking
from metamem.core.chat import ROLES
from metamem.core.errors import DataError, UnknownName, UsageError
from metamem.core.progress import Progress, Silent
from metamem.core.protocols import Domain
from metamem.core.renamed import renamed
from metamem.core.splits import check_split
from metamem.core.texts import read_text
from metamem.core.types import Design, Evaluation, Experience
from metamem.designs.library import is_named, load
from metamem.evaluation.evaluator import HELD_OUT
from metamem.evaluation.jobs import Spec
from metamem.evaluation.kinds.memories import ORACLE
from metamem.evaluation.rules import Rules
from metamem.memory import AsyncOpenMemory, OpenMemory
from metamem.models.allowance import Allowance
from metamem.models.config import load_config
from metamem.promotion.ledger import Ledger
from metamem.promotion.settings import as_in_use
from metamem.runs.across import columns, cross_table, play_across
from metamem.runs.config import LearnConfig
from metamem.runs.crosstable import CrossTable
from metamem.runs.forecast import Forecast, forecast
from metamem.runs.learn import learn as learn_run
from metamem.runs.opening import PLAYING, Stage, staged
from metamem.runs.opening import broker_for as broker_for
from metamem.runs.opening import running as running
from metamem.runs.played import evaluations, watched
from metamem.runs.settings import NO_MODELS, Models, conditions, learn_config
from metamem.runs.summary import Summary
from metamem.runs.supply import WHAT
from metamem.runs.table import ANSWERS
from metamem.search.handoff import run_folder
from metamem.search.learnables import learnable_of
from metamem.store.archive import Archive
from metamem.store.sqlite import SqliteArchive

LOCAL = Spec("local")
RULES = Rules()


@dataclass(frozen=True, slots=True)
class LearnResult:
    """How a run ended. `summary` is what the archive keeps and the report shows."""

    run_id: str
    learned: Design | None  # the best candidate; look at `promoted` before using it
    promoted: bool
    summary: Summary = field(repr=False)


def home_folder(home: str | Path | None = None) -> Path:
    """Where the archive and the reports live: given, $METAMEM_HOME, or ./metamem-home."""
    return Path(home or os.environ.get("METAMEM_HOME") or "metamem-home")


def open_home(home: str | Path | None = None) -> SqliteArchive:
    folder = home_folder(home)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"the folder {folder} cannot be made: {error.strerror}", hint="give another --home"
        ) from error
    return SqliteArchive(folder / "archive.db")


def find_design(name: str, archive: Archive | None = None, domain: Domain | None = None) -> Design:
    """A human design's name, the path of a file, or an id (or its start) in the archive.

    Memory designs are the same in every domain; sets of parameters are their domain's own.
    """
    if name in ANSWERS and (domain is None or domain.kind == ORACLE.kind):
        return replace(ORACLE, name=name)
    try:
        return load(name) if domain is None else learnable_of(domain).load(name, domain)
    except UnknownName as unknown:
        if archive is None:
            raise
        try:
            found = archive.design(name)
        except UnknownName:
            raise UnknownName(
                f"no design called {name!r}: not a human design, a file, or an id in the archive",
                hint=unknown.hint,
            ) from None
    if domain is not None and found.kind != domain.kind:
        raise UsageError(
            f"{domain.name} takes {WHAT[domain.kind]}, and {name} is none",
            hint=f"metamem domains show {domain.name}",
        )
    return found


async def learn_async(
    domain: str = "",
    *,
    run: str = "",
    home: str | Path | None = None,
    executor: Spec = LOCAL,
    progress: Progress | None = None,
    allowance: Allowance | None = None,
    **settings: Any,
) -> LearnResult:
    """Learn a memory design for a domain, or go on with the run called `run`.

    `settings` are fields of `LearnConfig`; `designs` and `seconds` set its budget. `models` names
    models by role, as `{"agent": "openai:gpt-5-nano/low"}`; `allowance` is what they may cost.
    """
    with await aside(open_home, home) as archive:
        config = await aside(learn_config, archive, domain, run, settings)
        run_id = run or await aside(_new_name, archive, config)
        desk = run_folder(home_folder(home), run_id)
        async with staged(archive, executor, config, run_id=run_id, allowance=allowance) as stage:
            summary = await learn_run(stage, progress, desk=desk)
        learned = await aside(archive.design, summary.learned) if summary.learned else None
        return LearnResult(run_id, learned, summary.promoted, summary)


learn = blocking(learn_async)


def forecast_learning(domain: str, **settings: Any) -> Forecast:
    """About what `learn` with these settings will ask of models; nothing is asked or written."""
    config = learn_config(None, domain, "", dict(settings))
    opened = load_config().open_roles({r: n for r, n in config.models.items() if r in ROLES})
    return forecast(config, opened)


async def evaluate_async(
    designs: str | Design | Sequence[str | Design],
    domain: str,
    split: str = "valid",
    *,
    home: str | Path | None = None,
    executor: Spec = LOCAL,
    progress: Progress | None = None,
    purpose: str = "evaluate",
    rules: Rules = RULES,
    models: Models = NO_MODELS,
    allowance: Allowance | None = None,
    **settings: Any,
) -> list[Evaluation]:
    """Evaluate designs (names, files, ids) on a split. `settings` are fields of `Setup`."""
    wanted = [designs] if isinstance(designs, str | Design) else list(designs)
    watch = progress or Silent()
    with await aside(open_home, home) as archive:
        config, beyond = conditions(domain, rules, models, **settings)
        made = registry.create("domains", config.domain.name, **config.domain.settings)
        found = [
            d if isinstance(d, Design) else await aside(find_design, d, archive, made)
            for d in wanted
        ]
        async with staged(archive, executor, config, allowance=allowance) as stage:
            evaluator = stage.evaluator(watched(watch), watch.note, **beyond)
            words = f"evaluating on {split}"
            return await evaluations(evaluator, found, split, purpose, watch, words)


evaluate = blocking(evaluate_async)


async def across_async(
    domains: Sequence[str] = (),
    split: str = "test",
    *,
    home: str | Path | None = None,
    executor: Spec = LOCAL,
    progress: Progress | None = None,
    allowance: Allowance | None = None,
) -> CrossTable:
    """Every domain's learned design and every human design, played in every domain.

    On `test` or `shift`: a learned design was chosen by the other splits of its own domain. Each
    domain is played as its run was, with that run's models; `allowance` is what they may cost.
    """
    check_split(split, HELD_OUT)
    with await aside(open_home, home) as archive:
        found = await aside(columns, archive, domains)
        missing = [name for name in domains if not await aside(columns, archive, [name])]
        if missing or len(found) < 2:
            what = f"nothing was learned for {missing[0]} yet" if missing else "too few domains"
            raise UsageError(
                f"{what}: at least two domains with a finished run are needed",
                hint=f"metamem learn {missing[0] if missing else 'DOMAIN'}",
            )
        left = allowance or Allowance()

        @asynccontextmanager
        async def opened(config: LearnConfig) -> AsyncIterator[Stage]:
            nonlocal left
            async with staged(archive, executor, config, allowance=left, roles=PLAYING) as stage:
                yield stage
            if stage.broker is not None:
                left = left.after(stage.broker.purse.tokens, stage.broker.purse.money)

        reasons = await play_across(archive, found, split, opened, progress)
        return await aside(cross_table, archive, found, split, reasons)


across = blocking(across_async)


def open_memory(
    design: str | Design,
    path: str | Path | None = None,
    *,
    home: str | Path | None = None,
    **settings: Any,
) -> OpenMemory:
    """A memory for an agent of your own. With a path, what it learned is kept there.

    A design may also be the id of one in the archive at `home` (or its start). One that is named as it
    comes with metamem runs with the settings that are in use for it there.
    """
    return OpenMemory(_found(design, home), path, **renamed(settings, layer="isolation"))


def open_memory_async(
    design: str | Design,
    path: str | Path | None = None,
    *,
    home: str | Path | None = None,
    **settings: Any,
) -> AsyncOpenMemory:
    """The same for code that awaits: `async with metamem.open_memory_async(...) as memory`."""
    return AsyncOpenMemory(_found(design, home), path, **renamed(settings, layer="isolation"))


def _found(design: str | Design, home: str | Path | None) -> Design:
    """A design by its name, its file, or its id in the archive at `home`, where there is one."""
    if isinstance(design, Design):
        return design
    place = home_folder(home) / "archive.db"
    if not place.is_file():
        return find_design(design)
    with SqliteArchive(place, create=False) as archive:
        found = find_design(design, archive)
        return as_in_use(found, Ledger(archive)) if is_named(design) else found


def read_episodes(path: str | Path) -> list[Experience]:
    """One's own episodes from a JSON-lines file (docs/episodes.md tells the format)."""
    episodes = []
    lines = read_text(Path(path)).splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            episodes.append(_experience(json.loads(line)))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise DataError(
                f"{path}, line {number} is not an episode: {error}",
                hint='an episode is {"goal": ..., "steps": [{"action": ..., "observation": ...}], '
                '"reward": ...}',
            ) from error
    return episodes


def _new_name(archive: Archive, config: LearnConfig) -> str:
    """The first free name of the form domain-seed-number."""
    taken = {record.id for record in archive.runs()}
    stem = f"{registry.plain(config.domain.name)}-s{config.seed}"
    return next(f"{stem}-{n}" for n in range(1, len(taken) + 2) if f"{stem}-{n}" not in taken)


def _experience(data: Mapping[str, Any]) -> Experience:
    """An episode as people write it: steps as objects or as metamem's own short lists."""
    steps = [
        s
        if isinstance(s, list)
        else [
            str(s["action"]),
            str(s.get("observation", "")),
            [str(a) for a in s.get("actions", ())],
            float(s.get("reward", 0.0)),
            bool(s.get("done", False)),
        ]
        for s in data.get("steps", ())
    ]
    messages = [
        m if isinstance(m, list) else [m["speaker"], m["text"], m.get("time", "")]
        for m in data.get("messages", ())
    ]
    if not steps and not messages:
        raise ValueError("it has neither steps nor messages")
    return Experience.from_json({**data, "steps": steps, "messages": messages})
