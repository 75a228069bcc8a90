"""Does memory help a language model that plays? Designs as fairly paired, on one model server.

    python -m bench.evidence_llm --model openai:NAME@http://127.0.0.1:8000/v1 [--memory-model NAME]
        [--designs no_memory,object_places,my_design.py] [--data PATH] [--split shift] [--repeats 3]
        [--at-once 402] [--home FOLDER] [--limit-tasks N] [--stop-after SECONDS]

One resumable command: every answer and every finished case is kept, so what was played is never
played again. Episodes are collected once without memory; then all designs play at the same time,
so that the server has as much to do at once as it can take. Gains are over the first design,
paired by task, the repeats of a task averaged.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from metamem.api import find_design, open_home
from metamem.core import registry
from metamem.core.errors import DataError, MetamemError
from metamem.core.types import CaseResult, Design, Evaluation
from metamem.designs.library import rivals
from metamem.evaluation.evaluator import Evaluator
from metamem.evaluation.jobs import Blobs, Emit, Job, JobDone, Setup, Spec
from metamem.evaluation.retry import persistent
from metamem.evaluation.rules import Rules
from metamem.evaluation.runner import Runner
from metamem.evaluation.statistics import holm_corrected, paired_comparison, t_interval
from metamem.models.base import LanguageModel
from metamem.models.broker import Broker
from metamem.models.config import ModelConfig
from metamem.models.spec import parse
from metamem.runs.opening import played_by
from metamem.store.archive import Archive

REPORT_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured."""

    model: str
    memory_model: str = ""  # "": the same
    designs: tuple[str, ...] = ()  # none named: every human design of the domain
    domain: str = "alfworld"
    data: Mapping[str, Any] = field(default_factory=dict)  # the domain's settings
    split: str = "shift"
    collect: int = 100
    repeats: int = 3
    at_once: int = 402  # episodes, over all designs
    temperature: float = 0.5  # of the agent: repeats are to differ
    constrain: str = "vllm"  # how the server takes the list of possible actions
    seconds: float = 900.0  # for one answer, waiting for its turn included

    @property
    def roles(self) -> dict[str, list[str]]:
        return {"agent": [self.model], "memory": [self.memory_model or self.model]}


class Together:
    """Runs any number of jobs in this process, which share one cap on episodes.

    One slot, so that each design is one job and its memory is fed once.
    """

    slots = 1

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def run(self, job: Job, emit: Emit) -> JobDone:
        return await persistent(job, emit, self._runner.run)

    async def close(self) -> None:
        await self._runner.close()


class Watch:
    """Says on stderr how far it is."""

    def __init__(self) -> None:
        self.begun = self.told = time.monotonic()
        self.cases = 0

    def case(self, row: CaseResult) -> None:
        self.cases += 1
        if time.monotonic() - self.told > REPORT_SECONDS:
            self.say(f"{self.cases} cases finished")

    def say(self, text: str) -> None:
        self.told = time.monotonic()
        print(f"{self.told - self.begun:6.0f} s  {text}", file=sys.stderr, flush=True)


async def measure(plan: Plan, home: str, stop_after: float = 0.0) -> dict[str, Any]:
    """Plays what is missing, for so many seconds at most; the table of what there is then."""
    watch = Watch()
    with open_home(home) as archive:
        broker = Broker(archive, _models(plan))
        executor = Together(Runner(_blobs(archive), broker.ask))
        setup = _setup(plan, broker)
        designs = _designs(plan, archive)
        evaluators = {
            name: Evaluator(archive, executor, setup, on_case=watch.case) for name in designs
        }
        one, collected = next(iter(evaluators.values())), ""
        try:
            async with asyncio.timeout(stop_after or None) as limit:
                collected = await one.collected(plan.split)
                watch.say("the collected episodes are there")
                await asyncio.gather(
                    *(_play(evaluators[n], n, d, plan.split, watch) for n, d in designs.items())
                )
        except TimeoutError:
            if not limit.expired():
                raise
            watch.say(f"stopped after {stop_after:g} s; the same command goes on from here")
        finally:
            await executor.close()
            await broker.close()
        found = {
            name: archive.evaluation(evaluators[name].fingerprint(design, plan.split).id)
            for name, design in designs.items()
        }
        learning = _learning(archive, designs, broker.fingerprints["memory"])
        episodes = archive.collection(collected) or []
        return {
            "model": plan.model,
            "memory_model": plan.memory_model or plan.model,
            "domain": plan.domain,
            "data": one.domain.version,
            "split": plan.split,
            "tasks": len(one.plan(plan.split).deployment),
            "collected": len(episodes),
            "collected_won": sum(episode.reward > 0 for episode in episodes),
            "repeats": plan.repeats,
            "temperature": plan.temperature,
            "seconds": round(time.monotonic() - watch.begun, 1),
            "rows": table(found, learning),
        }


async def _play(evaluator: Evaluator, name: str, design: Design, split: str, watch: Watch) -> None:
    """One design to its end; what goes wrong with it is no reason to stop the others."""
    try:
        outcome = await evaluator.evaluate(design, split, purpose="evidence with a model")
    except MetamemError as error:
        watch.say(f"{name} stopped: {error.message}")
        return
    watch.say(
        f"{name}: {100 * outcome.evaluation.reward:.1f} % {outcome.done.error[-300:]}".strip()
    )


def table(
    evaluations: Mapping[str, Evaluation | None], learning: Mapping[str, tuple[int, int]]
) -> list[dict[str, Any]]:
    """One row a design. The first is what the others are compared with."""
    rows: list[dict[str, Any]] = []
    whole = {name: e for name, e in evaluations.items() if e is not None and e.complete}
    first = next(iter(evaluations))
    rivals = [name for name in whole if name != first] if first in whole else []
    gains = holm_corrected(
        {n: paired_comparison(whole[n].by_task(), whole[first].by_task()) for n in rivals}
    )
    for name, evaluation in evaluations.items():
        played = evaluation.rows if evaluation is not None else ()
        row: dict[str, Any] = {"name": name, "played": len(played), "complete": name in whole}
        if evaluation is not None and played:
            low, high = t_interval(list(evaluation.by_task().values()), 0.95)
            repeats = sorted({r.repeat for r in played})
            row |= {
                "design": evaluation.design,
                "won": evaluation.reward,
                "low": max(0.0, low),
                "high": min(1.0, high),
                "by_repeat": [fmean(r.reward for r in played if r.repeat == n) for n in repeats],
                "by_task": dict(evaluation.by_task()),
                "steps": fmean(r.steps for r in played),
                "advice_tokens": fmean(r.advice_tokens for r in played),
                "calls": fmean(r.model_calls for r in played),
                "tokens": fmean(r.tokens for r in played),
                "failures": sum(bool(r.failure) for r in played),
                "memory_calls": learning.get(evaluation.design, (0, 0))[0],
                "memory_tokens": learning.get(evaluation.design, (0, 0))[1],
            }
        if name in gains:
            row["comparison"] = gains[name].to_json()
        rows.append(row)
    return rows


def show(found: Mapping[str, Any]) -> str:
    """The table for people."""
    lines = [
        f"{found['model']}: {found['domain']} {found['split']}, {found['tasks']} tasks × "
        f"{found['repeats']} repeats, {found['collected']} collected episodes "
        f"({found['collected_won']} won), temperature {found['temperature']:g}",
        "",
        f"| design | won % (95 %) | gain over {found['rows'][0]['name']} (95 %) | p (Holm) "
        "| advice tokens | calls a case | tokens a case | memory's own calls |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in found["rows"]:
        if not row["complete"]:
            lines.append(f"| {row['name']} | {row['played']} cases played | | | | | | |")
            continue
        gain = p = ""
        if c := row.get("comparison"):
            gain = f"{_percent(c['gain'], '+')} ({_percent(c['low'], '+')} to {_percent(c['high'], '+')})"
            p = f"{c['p_holm']:.2g}"
        lines.append(
            f"| {row['name']} | {_percent(row['won'])} "
            f"({_percent(row['low'])} to {_percent(row['high'])}) | {gain} | {p} "
            f"| {row['advice_tokens']:.0f} | {row['calls']:.1f} | {row['tokens']:.0f} "
            f"| {row['memory_calls']} |"
        )
    return "\n".join(lines)


def _percent(share: float, sign: str = "") -> str:
    return f"{100 * share + 0.0:{sign}.1f}"  # and no minus before a zero


# --- the parts -----------------------------------------------------------------------------------


def _models(plan: Plan) -> dict[str, list[LanguageModel]]:
    """The models of both roles; one that plays both is opened once."""
    options: dict[str, dict[str, Any]] = {}
    for [name] in plan.roles.values():
        options[name] = {"at_once": plan.at_once, "seconds": plan.seconds}
        if parse(name).url:
            options[name]["constrain"] = plan.constrain
    return ModelConfig(options=options).open_roles(plan.roles)


def _setup(plan: Plan, broker: Broker) -> Setup:
    agent = Spec("llm", {"temperature": plan.temperature})
    return Setup(
        domain=Spec(plan.domain, dict(plan.data)),
        agent=agent,
        embedder=Spec("auto"),
        rules=Rules(repeats=plan.repeats, collect=plan.collect),
        retrieves=plan.at_once,
        updates=plan.at_once,
        **(played_by(agent, broker) | {"parallel": max(2, plan.at_once)}),
    )


def _designs(plan: Plan, archive: Archive) -> dict[str, Design]:
    if plan.designs:
        found = [find_design(name, archive) for name in plan.designs]
        return {design.name or design.id[:12]: design for design in found}
    domain = registry.create("domains", plan.domain, **plan.data)
    return rivals(domain.baselines(), model=True)


def _blobs(archive: Archive) -> Blobs:
    def blob(key: str) -> bytes:
        content = archive.blob(key)
        if content is None:
            raise DataError(f"the archive has no content {key}")
        return content

    return blob


def _learning(
    archive: Archive, designs: Mapping[str, Design], model: str
) -> dict[str, tuple[int, int]]:
    """By design, the calls and tokens that its memory asked of the model: learning and advising."""
    ids = {design.id for design in designs.values()}
    return {
        spent.design_id: (spent.answered, spent.usage.total)
        for spent in archive.spending()
        if spent.role == "memory" and spent.model == model and spent.design_id in ids
    }


def _wanted(given: argparse.Namespace) -> Plan:
    data: dict[str, Any] = {"data": given.data} if given.data else {}
    if given.limit_tasks:
        data[given.split] = given.limit_tasks
    return Plan(
        model=given.model,
        memory_model=given.memory_model,
        designs=tuple(name for name in given.designs.split(",") if name),
        domain=given.domain,
        data=data,
        split=given.split,
        collect=given.collect,
        repeats=given.repeats,
        at_once=given.at_once,
        temperature=given.temperature,
        constrain=given.constrain,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, help="who plays, as metamem names models")
    parser.add_argument("--memory-model", default="", help="whom designs ask; else the same")
    parser.add_argument("--designs", default="", help="names and files, the first to compare with")
    parser.add_argument("--domain", default="alfworld")
    parser.add_argument("--data", default="", help="generated, or the folder of published games")
    parser.add_argument("--split", default="shift")
    parser.add_argument("--collect", type=int, default=100, help="episodes to learn from")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--at-once", type=int, default=402, help="episodes, over all designs")
    parser.add_argument("--temperature", type=float, default=0.5)
    parser.add_argument("--constrain", default="vllm", help="vllm, llama or nothing")
    parser.add_argument("--home", default="bench/results/evidence-llm")
    parser.add_argument("--limit-tasks", type=int, default=0)
    parser.add_argument("--stop-after", type=float, default=0.0, help="seconds")
    parser.add_argument("--json", default="", help="the file to write; else in the home")
    given = parser.parse_args(arguments)
    try:
        found = asyncio.run(measure(_wanted(given), given.home, given.stop_after))
    except MetamemError as error:
        raise SystemExit(f"{error.message}\n{error.hint}".strip()) from None
    written = Path(given.json or Path(given.home) / "evidence.json")
    written.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"{show(found)}\n\n{written}")


if __name__ == "__main__":
    main()
