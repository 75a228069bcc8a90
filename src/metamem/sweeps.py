"""The same designs under several conditions: with growing memory, and with other agents."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from metamem.api import LOCAL, RULES, find_design, open_home
from metamem.core import registry
from metamem.core.blocking import blocking
from metamem.core.errors import UsageError
from metamem.core.progress import Progress, Silent
from metamem.core.protocols import WorldDomain
from metamem.core.types import Design, Evaluation
from metamem.evaluation.jobs import Spec
from metamem.evaluation.plans import plan
from metamem.evaluation.rules import Rules
from metamem.evaluation.statistics import HolmComparison, holm_corrected, paired_comparison
from metamem.models.allowance import Allowance
from metamem.runs.opening import staged
from metamem.runs.played import evaluations, watched
from metamem.runs.settings import NO_MODELS, NO_SETTINGS, Models, conditions
from metamem.runs.swept import Curve, CurveLine, Transfer, TransferLine
from metamem.runs.table import TableRow, table
from metamem.store.archive import Archive

NO_MEMORY = "no_memory"
SIZES = (0, 5, 10, 20, 40)  # those of them that the split has tasks for
Wanted = str | Design | Sequence[str | Design]
Column = dict[str, Evaluation]  # by the design's name
Key = tuple[str, int]  # a design's name, and the number of a column


@dataclass(frozen=True, slots=True)
class Acting:
    """An agent and, where it asks one, its model; written NAME or NAME=MODEL."""

    agent: Spec
    model: str = ""

    @staticmethod
    def read(text: str) -> "Acting":
        name, _, model = text.strip().partition("=")
        registry.factory("agents", name)
        return Acting(Spec(name), model)

    @property
    def name(self) -> str:
        return f"{self.agent.name}={self.model}" if self.model else self.agent.name

    def models(self, others: Models) -> Models:
        return {**others, "agent": self.model} if self.model else others


async def curve_async(
    designs: Wanted,
    domain: str,
    sizes: Sequence[int] = (),
    split: str = "test",
    *,
    home: str | Path | None = None,
    agent: Spec | None = None,
    rules: Rules = RULES,
    domain_settings: Mapping[str, Any] = NO_SETTINGS,
    **settings: Any,
) -> Curve:
    """Evaluate designs whose memory has learned from more and more tasks.

    A larger collection holds the smaller ones, and all play the same tasks with the same luck, so
    gains over the smallest size are paired. `settings` are those of `metamem.evaluate`.
    """
    made = _worlds(domain, domain_settings)
    who = Acting(agent or Spec(made.agent))
    most = plan(made, split, replace(rules, collect=None)).collectable
    steps = sorted(set(sizes)) or [size for size in SIZES if size <= most]
    if len(steps) < 2 or steps[0] < 0 or steps[-1] > most:
        raise UsageError(
            f"a curve on {split} of {domain} needs two sizes or more between 0 and {most}",
            hint=f"such as --sizes 0,{max(1, most // 2)},{most}" if most else "",
        )
    with open_home(home) as archive:
        named = _named(designs, archive)
        found = await _swept(
            archive,
            named,
            (domain, split, "memory-size curve"),
            [(who, replace(rules, collect=size)) for size in steps],
            domain_settings=domain_settings,
            **settings,
        )
    compared = _compared(found, lambda name, column: found[0][name])
    lines = [
        CurveLine(
            name,
            design.id,
            dict(zip(steps, _cells(name, found, compared, made.reward_range), strict=True)),
        )
        for name, design in named.items()
    ]
    tasks = len(next(iter(found[0].values())).by_task())
    return Curve(
        domain,
        split,
        who.name,
        tasks,
        rules,
        tuple(steps),
        tuple(lines),
        made.reward_range,
    )


async def transfer_async(
    designs: Wanted,
    domain: str,
    agents: Sequence[str | Acting],
    split: str = "test",
    *,
    home: str | Path | None = None,
    rules: Rules = RULES,
    **settings: Any,
) -> Transfer:
    """Evaluate designs with several agents, each against no memory with that same agent.

    Every agent collects its own experiences: what is carried over is the design, not its memories.
    `settings` are those of `metamem.evaluate`; the `models` given there are for every agent but
    those that are written NAME=MODEL, which play with that model.
    """
    acting = [Acting.read(a) if isinstance(a, str) else a for a in agents]
    names = [who.name for who in acting]
    if not names or len(set(names)) < len(names):
        raise UsageError("which agents? At least one is needed, and each only once")
    made = _worlds(domain, settings.get("domain_settings", NO_SETTINGS))
    with open_home(home) as archive:
        named = {NO_MEMORY: find_design(NO_MEMORY)} | _named(designs, archive)
        found = await _swept(
            archive,
            named,
            (domain, split, "transfer"),
            [(who, rules) for who in acting],
            **settings,
        )
    compared = _compared(found, lambda name, column: column[NO_MEMORY])
    lines = [
        TransferLine(
            name,
            design.id,
            dict(zip(names, _cells(name, found, compared, made.reward_range), strict=True)),
        )
        for name, design in named.items()
    ]
    tasks = len(found[0][NO_MEMORY].by_task())
    return Transfer(
        domain,
        split,
        tuple(names),
        NO_MEMORY,
        tasks,
        rules,
        tuple(lines),
        made.reward_range,
    )


curve = blocking(curve_async)
transfer = blocking(transfer_async)


def _worlds(domain: str, settings: Mapping[str, Any]) -> WorldDomain:
    made: WorldDomain = registry.create("domains", domain, **settings)
    if made.kind != "code":
        raise UsageError(f"{domain} learns parameters: there is no memory in it to sweep over")
    return made


def _named(designs: Wanted, archive: Archive) -> dict[str, Design]:
    wanted = [designs] if isinstance(designs, str | Design) else list(designs)
    if not wanted:
        raise UsageError("which designs?")
    named: dict[str, Design] = {}
    for each in wanted:
        design = find_design(each, archive) if isinstance(each, str) else each
        named[each if isinstance(each, str) else each.name or each.id] = design
    return named


async def _swept(
    archive: Archive,
    designs: Mapping[str, Design],
    where: tuple[str, str, str],
    columns: Sequence[tuple[Acting, Rules]],
    *,
    executor: Spec = LOCAL,
    progress: Progress | None = None,
    models: Models = NO_MODELS,
    allowance: Allowance | None = None,
    **settings: Any,
) -> list[Column]:
    """A column of evaluations for each agent and its rules. The allowance is for them all."""
    domain, split, purpose = where
    watch = progress or Silent()

    left = allowance or Allowance()
    found: list[Column] = []
    for who, own in groupby(columns, key=lambda column: column[0]):
        config, beyond = conditions(domain, RULES, who.models(models), agent=who.agent, **settings)
        async with staged(archive, executor, config, allowance=left) as stage:
            for _, rules in own:
                evaluator = stage.evaluator(watched(watch), watch.note, rules=rules, **beyond)
                words = f"{purpose} on {split}, {len(found) + 1} of {len(columns)}"
                done = await evaluations(
                    evaluator, list(designs.values()), split, purpose, watch, words
                )
                found.append(dict(zip(designs, done, strict=True)))
        if stage.broker is not None:
            left = left.after(stage.broker.purse.tokens, stage.broker.purse.money)
    return found


def _compared(
    columns: Sequence[Column], rival: Callable[[str, Column], Evaluation]
) -> dict[Key, HolmComparison]:
    """Every cell against its rival, paired by task; p-values are Holm-corrected over all of them."""
    return holm_corrected(
        {
            (name, n): paired_comparison(ours.by_task(), rival(name, column).by_task())
            for n, column in enumerate(columns)
            for name, ours in column.items()
            if ours.id != rival(name, column).id
        }
    )


def _cells(
    name: str,
    columns: Sequence[Column],
    compared: Mapping[Key, HolmComparison],
    reward_range: tuple[float, float],
) -> list[TableRow]:
    """A design in every column."""
    rows = [row for column in columns for row in table({name: column[name]}, (), reward_range)]
    return [replace(row, comparison=compared.get((name, n))) for n, row in enumerate(rows)]
