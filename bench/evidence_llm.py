"""Does memory help a language model that plays? Designs as fairly paired, on one model server.

    python -m bench.evidence_llm --model openai:NAME@http://127.0.0.1:8000/v1 [--memory-model NAME]
        [--designs no_memory,object_places,my_design.py] [--more learned.py] [--data PATH]
        [--ask once|every:K|when[:N]] [--repeats 3] [--processes 6] [--home FOLDER] [--light]
        [--stop-after SECONDS]
    python -m bench.evidence_llm --model ... --batch --designs no_memory,a.py,b.py,c.py

One resumable command: every finished case is kept (and every answer, unless `--light`), so what was
played is never played again. Episodes are collected once by the reader, without a model. Rows come
in the order given; where none is named, first the human designs that ask no model. With several
processes each row is played by one of its own. Gains are over the first design, paired by task, the
repeats of a task averaged.

The model sees a running transcript behind worked examples, which show notes of the row's own design
on train tasks; actions tried in the same state are left out. `--ask` says when memory is asked, in
the examples and by every row alike. `--batch` is for learning with the model in the loop: it scores
designs on generated train games and shows what failed.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.llm_light import Light
from bench.llm_table import failures, show, table
from metamem.api import find_design, open_home
from metamem.core import registry
from metamem.core.errors import DataError, MetamemError
from metamem.core.types import CaseResult, Design
from metamem.designs.library import needs_model, rivals
from metamem.evaluation.evaluator import Evaluator
from metamem.evaluation.jobs import Blobs, Emit, Job, JobDone, Setup, Spec
from metamem.evaluation.retry import persistent
from metamem.evaluation.rules import Rules, asking
from metamem.evaluation.runner import Runner
from metamem.models.base import LanguageModel
from metamem.models.broker import Broker
from metamem.models.config import ModelConfig
from metamem.models.spec import parse
from metamem.runs.opening import played_by
from metamem.store.archive import Archive

REPORT_SECONDS = 15.0
# Of the agent: what a small model follows best.
FOLLOWING = {
    "form": "transcript",
    "examples": 6,
    "leave_out_tried": True,
    "list_actions": False,  # the server holds replies to them
}
BATCH = {"data": "generated", "train": 300}  # half to collect from, examples of what is left
BATCH_TASKS = 60


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured."""

    model: str
    memory_model: str = ""  # "": the same
    designs: tuple[str, ...] = ()  # none named: every human design of the domain
    more: tuple[str, ...] = ()  # designs beside those
    domain: str = "alfworld"
    data: Mapping[str, Any] = field(default_factory=dict)  # the domain's settings
    split: str = "shift"
    collect: int = 100
    ask: str = "once"  # when memory is asked, by every design and in the examples
    repeats: int = 3
    tasks: int = 0  # of the split; 0: all
    agent: Mapping[str, Any] = field(default_factory=lambda: dict(FOLLOWING))
    collector: str = "reader"  # who plays what designs learn from; "": the model
    at_once: int = 402  # episodes, in one process
    light: bool = False  # what the agent asks is not kept: the home stays small
    temperature: float = 0.5  # of the agent: repeats are to differ
    constrain: str = "vllm"  # how the server takes the list of possible actions
    continues: bool = True  # the server continues running text
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


async def measure(
    plan: Plan,
    home: str,
    stop_after: float = 0.0,
    *,
    only: str = "",
    lost: int = 0,
    rows: "Rows | None" = None,
) -> dict[str, Any]:
    """Plays what is missing, for so many seconds at most; the table of what there is then.

    Of the designs, `only` one where it is named. `rows` plays them elsewhere. So many lost episodes
    of each are told.
    """
    watch = Watch()
    with open_home(home) as archive:
        broker = Broker(Light(archive) if plan.light else archive, _models(plan))
        executor = Together(Runner(_blobs(archive), broker.ask))
        setup = _setup(plan, broker)
        designs = {n: d for n, d in _designs(plan, archive).items() if only in ("", n)}
        evaluators = {
            name: Evaluator(archive, executor, setup, on_case=watch.case) for name in designs
        }
        one, collected = next(iter(evaluators.values())), ""
        try:
            async with asyncio.timeout(stop_after or None) as limit:
                collected = await one.collected(plan.split)
                watch.say("the collected episodes are there")
                await asyncio.gather(
                    *(
                        rows.play(name, watch)
                        if rows
                        else _play(evaluators[name], name, d, plan.split, watch)
                        for name, d in designs.items()
                    )
                )
        except TimeoutError:
            if not limit.expired():
                raise
            watch.say(f"stopped after {stop_after:g} s; the same command goes on from here")
        finally:
            await executor.close()
            await broker.close()
        ids = {name: evaluators[name].fingerprint(d, plan.split).id for name, d in designs.items()}
        learning = _learning(archive, designs, broker.fingerprints["memory"])
        episodes = archive.collection(collected) or []
        return {
            "model": plan.model,
            "memory_model": plan.memory_model or plan.model,
            "domain": plan.domain,
            "data": one.domain.version,
            "split": plan.split,
            "agent": dict(plan.agent),
            "collector": plan.collector,
            "ask": plan.ask,
            "tasks": len(one.plan(plan.split).deployment),
            "collected": len(episodes),
            "collected_won": sum(episode.reward > 0 for episode in episodes),
            "repeats": plan.repeats,
            "temperature": plan.temperature,
            "seconds": round(time.monotonic() - watch.begun, 1),
            "rows": table({name: archive.evaluation(ids[name]) for name in designs}, learning),
            "lost": {name: failures(name, archive.traces(ids[name]), lost) for name in designs},
        }


class Rows:
    """Plays each row by a process of its own, so many at a time, in order."""

    def __init__(self, arguments: Sequence[str], processes: int, stop_after: float) -> None:
        self._arguments, self._places = list(arguments), asyncio.Semaphore(processes)
        self._until = time.monotonic() + stop_after if stop_after else 0.0

    async def play(self, name: str, watch: Watch) -> None:
        async with self._places:
            left = ["--stop-after", f"{max(1.0, self._until - time.monotonic() - 5):.0f}"]
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "bench.evidence_llm", *self._arguments),
                *("--only", name, "--processes", "1", *(left if self._until else [])),
                stdout=asyncio.subprocess.DEVNULL,
            )
            try:
                if await process.wait():
                    watch.say(f"{name} ended with an error, told above")
            except asyncio.CancelledError:
                process.terminate()
                await process.wait()
                raise


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


# --- the parts -----------------------------------------------------------------------------------


def _models(plan: Plan) -> dict[str, list[LanguageModel]]:
    """The models of both roles; one that plays both is opened once."""
    options: dict[str, dict[str, Any]] = {}
    for [name] in plan.roles.values():
        options[name] = {"at_once": plan.at_once, "seconds": plan.seconds}
        if parse(name).url:
            options[name] |= {"constrain": plan.constrain, "continues": plan.continues}
    return ModelConfig(options=options).open_roles(plan.roles)


def _setup(plan: Plan, broker: Broker) -> Setup:
    agent = Spec("llm", {"temperature": plan.temperature, **plan.agent})
    return Setup(
        domain=Spec(plan.domain, dict(plan.data)),
        agent=agent,
        embedder=Spec("auto"),
        rules=replace(
            Rules(repeats=plan.repeats, collect=plan.collect, tasks=plan.tasks),
            **asking(plan.ask),
        ),
        collector=Spec(plan.collector) if plan.collector else None,
        retrieves=plan.at_once,
        updates=plan.at_once,
        **(played_by(agent, broker) | {"parallel": max(2, plan.at_once)}),
    )


def _designs(plan: Plan, archive: Archive) -> dict[str, Design]:
    if plan.designs:
        found = [find_design(name, archive) for name in plan.designs]
    else:
        domain = registry.create("domains", plan.domain, **plan.data)
        found = sorted(rivals(domain.baselines(), model=True).values(), key=needs_model)
    found[1:1] = [find_design(name, archive) for name in plan.more]
    return {design.name or design.id[:12]: design for design in found}


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
    if given.batch:
        data = {**BATCH, "seed": given.seed}
    if given.limit_tasks:
        data[given.split] = given.limit_tasks
    agent = dict(FOLLOWING, form=given.form, examples=given.examples)
    if given.form == "chat":
        agent["list_actions"] = True
    return Plan(
        model=given.model,
        memory_model=given.memory_model,
        designs=_named(given.designs),
        more=_named(given.more),
        domain=given.domain,
        data=data,
        split="train" if given.batch else given.split,
        collect=given.collect,
        ask=given.ask,
        repeats=1 if given.batch else given.repeats,
        tasks=given.tasks or (BATCH_TASKS if given.batch else 0),
        agent=agent,
        collector=given.collector,
        at_once=given.at_once,
        light=given.light,
        temperature=given.temperature,
        constrain=given.constrain,
        continues=not given.messages_only,
    )


def _named(names: str) -> tuple[str, ...]:
    return tuple(name for name in names.split(",") if name)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, help="who plays, as metamem names models")
    parser.add_argument("--memory-model", default="", help="whom designs ask; else the same")
    parser.add_argument("--designs", default="", help="names and files, the first to compare with")
    parser.add_argument("--more", default="", help="files that come right after the first row")
    parser.add_argument("--only", default="", help="of these rows, play this one")
    parser.add_argument("--batch", action="store_true", help="on generated train games")
    parser.add_argument("--lost", type=int, default=0, help="episodes to show of each design")
    parser.add_argument("--domain", default="alfworld")
    parser.add_argument("--data", default="", help="generated, or the folder of published games")
    parser.add_argument("--seed", type=int, default=0, help="of the generated games of a batch")
    parser.add_argument("--split", default="shift")
    parser.add_argument("--collect", type=int, default=100, help="episodes to learn from")
    parser.add_argument("--collector", default="reader", help="who plays those; empty: the model")
    parser.add_argument("--ask", default="once", help="when memory is asked: once, every:K, when")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tasks", type=int, default=0, help="of the split, drawn; else all")
    parser.add_argument("--form", default="transcript", help="transcript or chat")
    parser.add_argument("--examples", type=int, default=FOLLOWING["examples"])
    parser.add_argument("--at-once", type=int, default=402, help="episodes, in one process")
    parser.add_argument("--processes", type=int, default=1, help="rows at a time, one process each")
    parser.add_argument("--light", action="store_true", help="keep cases, not the agent's answers")
    parser.add_argument("--temperature", type=float, default=0.5)
    parser.add_argument("--constrain", default="vllm", help="vllm, llama or nothing")
    parser.add_argument("--messages-only", action="store_true", help="no /completions there")
    parser.add_argument("--home", default="bench/results/evidence-llm")
    parser.add_argument("--limit-tasks", type=int, default=0)
    parser.add_argument("--stop-after", type=float, default=0.0, help="seconds")
    parser.add_argument("--json", default="", help="the file to write; else in the home")
    told = list(sys.argv[1:] if arguments is None else arguments)
    given = parser.parse_args(told)
    rows = Rows(told, given.processes, given.stop_after) if given.processes > 1 else None
    plan, lost = _wanted(given), given.lost or (3 if given.batch else 0)
    try:
        if given.only:
            asyncio.run(measure(plan, given.home, given.stop_after, only=given.only))
            return
        found = asyncio.run(measure(plan, given.home, given.stop_after, lost=lost, rows=rows))
    except MetamemError as error:
        raise SystemExit(f"{error.message}\n{error.hint}".strip()) from None
    shown = "\n".join(text for text in found.pop("lost").values() if text)
    written = Path(given.json or Path(given.home) / "evidence.json")
    written.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print("\n\n".join(part for part in (shown, show(found), str(written)) if part))


if __name__ == "__main__":
    main()
