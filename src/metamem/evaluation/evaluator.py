"""Designs in, evaluations out: plans the cases, reuses what is known, stores every row."""

import asyncio
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from metamem.core import registry
from metamem.core.aside import aside
from metamem.core.errors import EngineFault
from metamem.core.ids import canonical_json, content_id, derive_seed
from metamem.core.protocols import Agent, Domain
from metamem.core.together import together
from metamem.core.types import Case, CaseResult, Design, Episode, Evaluation, Fingerprint
from metamem.designs import TOOLBOX_VERSION
from metamem.evaluation.jobs import CaseDone, Executor, Job, JobDone, Setup
from metamem.evaluation.protocol import Plan, plan
from metamem.evaluation.racing import Race
from metamem.evaluation.rows import RowWriter
from metamem.models.embedders import open_embedder
from metamem.sandbox.limits import Limits
from metamem.store.facets import Blobs, Collections, Designs, Evaluations, Reads
from metamem.store.records import ReadRecord, utc_now

HELD_OUT = ("test", "shift")
# Not a design: the ceiling, advised by the domain's own answers. It never runs.
ORACLE = Design("# The domain's own answers: a ceiling for reports, not a memory.\n", name="oracle")
SHARD_CASES = 50  # fewer in a shard would spend more on feeding the memory than on playing
TRACED_TASKS = 12  # episodes kept whole per evaluation, on the same tasks for every design

OnCase = Callable[[CaseResult], None]


class Records(Designs, Evaluations, Collections, Blobs, Reads, Protocol):
    """What evaluating needs of an archive."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """An evaluation and how its jobs ended."""

    evaluation: Evaluation
    done: JobDone = field(default_factory=JobDone)


class Evaluator:
    """Evaluates designs under one setup. All designs share tasks, seeds and collections."""

    def __init__(
        self,
        archive: Records,
        executor: Executor,
        setup: Setup,
        *,
        run_id: str = "",
        on_case: OnCase | None = None,
    ) -> None:
        self.archive, self.executor, self.setup = archive, executor, setup
        self.run_id, self.on_case = run_id, on_case
        self.domain: Domain = registry.create("domains", setup.domain.name, **setup.domain.settings)
        agent: Agent = registry.create("agents", setup.agent.name, **setup.agent.settings)
        embedder = open_embedder(setup.embedder.name, setup.embedder.settings)
        self._agent, self._embedder = agent.fingerprint, embedder.fingerprint
        if getattr(agent, "asks_model", False):  # the same agent with another model is another
            model = setup.models.get("agent", "no model")
            self._agent += f" with {model}, {setup.window} tokens"
        self._plans: dict[str, Plan] = {}
        self._collecting = asyncio.Lock()
        self._collected: dict[str, str] = {}  # by split; what the archive holds stays there
        self._permits = asyncio.Semaphore(executor.slots)
        self._alone = asyncio.Lock()

    def plan(self, split: str) -> Plan:
        if split not in self._plans:
            self._plans[split] = plan(self.domain, split, self.setup.rules)
        return self._plans[split]

    def fingerprint(self, design: Design, split: str) -> Fingerprint:
        return Fingerprint(
            design=design.id,
            domain=self.domain.name,
            data_version=self.domain.version,
            split=split,
            protocol=self.setup.rules.to_json(),
            agent=self._agent,
            models=dict(self.setup.models),
            embedder=self._embedder,
            toolbox=TOOLBOX_VERSION,
            limits=Limits(**self.setup.limits).to_json(),
            seed=self.setup.seed,
        )

    async def evaluate(
        self,
        design: Design,
        split: str,
        *,
        purpose: str,
        race: Race | None = None,
        behaviours: Mapping[str, str] | None = None,
        probes: Sequence[str] = (),
        created_by: str = "",
    ) -> Outcome:
        """One design on one split. Cases that are already known are not played again."""
        fingerprint, todo = self.fingerprint(design, split), self.plan(split)
        known = await aside(self._open, design, fingerprint, purpose, created_by)
        if known.complete:
            return Outcome(known)
        if race is not None and known.rows:
            state = race.state(self._finished(known))
            if state.raced_out and not state.next_tasks:
                return Outcome(known, JobDone(raced_out=True))
        base = Job(
            key=fingerprint.id,
            setup=self.setup,
            split=split,
            cases=todo.cases,
            design=None if design == ORACLE else design,
            oracle=design == ORACLE,
            experiences="" if design == ORACLE else await self.collected(split),
            keep_episodes=self.traced(split),
            race=race,
            known=known.rows,
            behaviours=behaviours or {},
            probes=tuple(probes),
        )
        ends = await together(self._run(job, fingerprint.id) for job in self._shards(base))
        return Outcome(await aside(self._stored, fingerprint), _joined(ends))

    async def verify(self, design: Design, experiences: int, tasks: int) -> JobDone:
        """Does it load and run? A few experiences, a few tasks, nothing stored."""
        todo = self.plan("train")
        job = Job(
            key=f"verify-{design.id}",
            setup=self.setup,
            split="train",
            cases=tuple(Case(t.id) for t in todo.deployment[:tasks]),
            design=design,
            experiences=await self.collected("train"),
            experience_limit=experiences,
        )
        return await self._run(job, "")

    def _open(
        self, design: Design, fingerprint: Fingerprint, purpose: str, created_by: str
    ) -> Evaluation:
        """What is known of an evaluation, which is in the archive after this."""
        self.archive.add_design(design, created_by=created_by)
        self.archive.open_evaluation(fingerprint, len(self.plan(fingerprint.split).cases))
        if fingerprint.split in HELD_OUT:
            self.archive.record_read(
                ReadRecord(
                    utc_now(),
                    self.run_id or None,
                    fingerprint.split,
                    fingerprint.design,
                    fingerprint.id,
                    purpose,
                )
            )
        return self._stored(fingerprint)

    def traced(self, split: str) -> frozenset[str]:
        """The tasks whose episodes are kept: spread over the split, the same for every design."""
        tasks = [t.id for t in self.plan(split).deployment]
        ranked = sorted(tasks, key=lambda t: derive_seed("traced", t))
        return frozenset(ranked[:TRACED_TASKS])

    # --- collection --------------------------------------------------------------------------

    async def collected(self, split: str) -> str:
        """The blob of collected experiences: played once per agent and seed, for all designs."""
        if split not in self._collected:
            self._collected[split] = await self._collect(split)
        return self._collected[split]

    async def _collect(self, split: str) -> str:
        tasks = self.plan(split).collection
        if not tasks:
            return ""
        key = content_id(
            "collection",
            self.domain.name,
            self.domain.version,
            self._agent,
            self.setup.seed,
            self.setup.rules.max_steps,
            [t.id for t in tasks],
        )
        async with self._collecting:
            if await aside(self.archive.collection, key) is None:
                episodes: dict[str, Episode] = {}

                def keep(done: CaseDone) -> None:
                    assert done.episode is not None
                    episodes[done.row.task_id] = done.episode
                    if self.on_case:
                        self.on_case(done.row)

                step = -(-len(tasks) // self.executor.slots)
                jobs = [
                    Job(
                        key=f"collect-{key}-{start}",
                        setup=self.setup,
                        split=self.plan(split).collected_from,
                        phase="collect",
                        cases=tuple(Case(t.id) for t in tasks[start : start + step]),
                        keep_all=True,
                    )
                    for start in range(0, len(tasks), step)
                ]
                await together(self.executor.run(job, keep) for job in jobs)
                played = [episodes[t.id] for t in tasks]
                await aside(self.archive.put_collection, key, played)
            await aside(self._pack_experiences, key)
        return key

    def _pack_experiences(self, key: str) -> None:
        if self.archive.blob(key) is None:
            episodes = self.archive.collection(key)
            assert episodes is not None
            lines = [canonical_json(e.experience().to_json()) for e in episodes]
            self.archive.put_blob(key, zlib.compress("\n".join(lines).encode(), 6))

    # --- jobs --------------------------------------------------------------------------------

    def _shards(self, job: Job) -> list[Job]:
        if self.setup.rules.rollout == "streaming":  # each repeat is one chain, whole or not at all
            repeats = range(self.setup.rules.repeats)
            chains = [tuple(c for c in job.cases if c.repeat == r) for r in repeats]
            return [replace(job, cases=chain, known=()) for chain in chains]
        if job.race is not None or job.probes:
            return [job]
        known = {row.case for row in job.known}
        rest = [case for case in job.cases if case not in known]
        groups = {task.id: task.group for task in self.plan(job.split).deployment}
        if any(groups.values()):  # a group is fed in one shard only, since feeding is the dear part
            order = list(dict.fromkeys(groups[case.task_id] for case in rest))
            shares = [order[n :: self.executor.slots] for n in range(self.executor.slots)]
            return [
                replace(
                    job,
                    key=f"{job.key}-{n}",
                    cases=tuple(case for case in rest if groups[case.task_id] in share),
                    known=(),
                )
                for n, share in enumerate(shares)
                if share
            ]
        shards = max(1, min(self.executor.slots, len(rest) // SHARD_CASES))
        # By task, so that the shards of equal plans hold equal tasks whatever is already known.
        size = -(-len(rest) // shards)
        return [
            replace(job, key=f"{job.key}-{n}", cases=tuple(rest[start : start + size]), known=())
            for n, start in enumerate(range(0, len(rest), size))
        ]

    async def _run(self, job: Job, evaluation_id: str) -> JobDone:
        writer = RowWriter(self.archive, evaluation_id)

        def keep(done: CaseDone) -> None:
            writer.add(done)
            if self.on_case:
                self.on_case(done.row)

        try:
            async with self._permits:
                done = await self.executor.run(job, keep)
        finally:
            await writer.finish()
        if not done.wall_stops:
            return done
        # A stop by the clock may be the machine's fault: played again with nothing beside it.
        async with self._alone:
            for _ in range(self.executor.slots):
                await self._permits.acquire()
            try:
                known = await aside(self.archive.evaluation, evaluation_id)
                again = replace(job, alone=True, known=known.rows if known else ())
                if job.race is None:
                    again = replace(again, cases=done.wall_stops)
                done = await self.executor.run(again, keep)
            finally:
                for _ in range(self.executor.slots):
                    self._permits.release()
                await writer.finish()
        return done

    def _finished(self, evaluation: Evaluation) -> dict[str, float]:
        """Rewards of the tasks all of whose repeats were played."""
        played = Counter(row.task_id for row in evaluation.rows)
        rewards = evaluation.by_task().items()
        return {task: r for task, r in rewards if played[task] == self.setup.rules.repeats}

    def _stored(self, fingerprint: Fingerprint) -> Evaluation:
        found = self.archive.evaluation(fingerprint.id)
        if found is None:
            raise EngineFault(f"evaluation {fingerprint.id} vanished from the archive")
        return found


def _joined(ends: Sequence[JobDone]) -> JobDone:
    if not ends:
        return JobDone()
    return replace(
        ends[0],
        error=next((e.error for e in ends if e.error), ""),
        raced_out=any(e.raced_out for e in ends),
    )
