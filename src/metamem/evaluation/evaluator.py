"""Designs in, evaluations out: plans the cases, reuses what is known, stores every row."""

import asyncio
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from metamem.core import registry
from metamem.core.aside import aside
from metamem.core.errors import EngineFault
from metamem.core.ids import canonical_json, content_id, derive_seed
from metamem.core.protocols import Agent, Domain
from metamem.core.together import together
from metamem.core.types import Case, CaseResult, Design, Episode, Evaluation, Fingerprint
from metamem.designs import TOOLBOX_VERSION
from metamem.designs.limits import Limits
from metamem.evaluation.jobs import CaseDone, Emit, Executor, Job, JobDone, Setup
from metamem.evaluation.probation import HANGS, PASSED, STRIKES, Probation
from metamem.evaluation.protocol import Plan, plan
from metamem.evaluation.racing import Race
from metamem.evaluation.rows import RowWriter
from metamem.evaluation.runner import FEW_HANGS
from metamem.evaluation.shards import shards
from metamem.models.embedders import open_embedder
from metamem.store.facets import Blobs, Collections, Designs, Evaluations, Reads
from metamem.store.records import ReadRecord, Trace, utc_now

HELD_OUT = ("test", "shift")
# Not a design: the ceiling, advised by the domain's own answers. It never runs.
ORACLE = Design("# The domain's own answers: a ceiling for reports, not a memory.\n", name="oracle")
TRACED_TASKS = 12  # episodes kept whole per evaluation, on the same tasks for every design

OnCase = Callable[[CaseResult], None]


class Records(Designs, Evaluations, Collections, Blobs, Reads, Protocol):
    """What evaluating needs of an archive."""


def enter_read(archive: Reads, fingerprint: Fingerprint, purpose: str, run_id: str = "") -> None:
    """Every look at a split that the search must not see is entered in the ledger."""
    if fingerprint.split in HELD_OUT:
        archive.record_read(
            ReadRecord(
                utc_now(),
                run_id or None,
                fingerprint.split,
                fingerprint.design,
                fingerprint.id,
                purpose,
            )
        )


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
        self._one_alone = asyncio.Lock()

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
        behaviours: Mapping[str, tuple[str, ...]] | None = None,
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
            probation=None if design == ORACLE else self.probation(split),
        )
        done = await self._play(base, fingerprint.id)
        played = await aside(self._stored, fingerprint)
        if reason := self.stopped(played):
            await self._fail_the_rest(played, todo.cases, reason)
            played = await aside(self._stored, fingerprint)
        return Outcome(played, done)

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
            until_failure=True,
        )
        return await self._run(job, "")

    def _open(
        self, design: Design, fingerprint: Fingerprint, purpose: str, created_by: str
    ) -> Evaluation:
        """What is known of an evaluation, which is in the archive after this."""
        self.archive.add_design(design, created_by=created_by)
        self.archive.open_evaluation(fingerprint, len(self.plan(fingerprint.split).cases))
        enter_read(self.archive, fingerprint, purpose, self.run_id)
        return self._stored(fingerprint)

    def missing(self, designs: Iterable[Design], split: str) -> int:
        """How many cases of these designs are yet to be played."""
        planned, known = len(self.plan(split).cases), 0
        ids = {self.fingerprint(design, split).id for design in designs}
        for evaluation_id in ids:
            found = self.archive.evaluation(evaluation_id)
            known += len(found.rows) if found else 0
        return planned * len(ids) - known

    async def advice(
        self,
        design: Design,
        tasks: Sequence[str],
        probes: Sequence[str],
        behaviours: Mapping[str, tuple[str, ...]],
        keep: Emit,
    ) -> JobDone:
        """What it says on some tasks of train with all experiences; nothing is played or stored.

        Also tells whether it says the same as some known design on all `probes`.
        """
        return await self._unstored(
            design, tasks, keep, probes=tuple(probes), behaviours=behaviours, advice_only=True
        )

    async def play(self, design: Design, tasks: Sequence[str], keep: Emit) -> JobDone:
        """Plays some tasks of train once, with all experiences; nothing is stored."""
        return await self._unstored(design, tasks, keep)

    async def traces(self, design: Design, split: str, tasks: Sequence[str]) -> list[Trace]:
        """How these tasks of an evaluation went the first time.

        Few episodes are kept with an evaluation. Since the same case is always played alike, the
        others are played again when somebody wants to see them; then they are kept, too.
        """
        evaluation = self.fingerprint(design, split).id
        kept = {trace.case: trace for trace in await aside(self.archive.traces, evaluation)}
        cases = [Case(task) for task in tasks]
        missing = [case.task_id for case in cases if case not in kept]
        if missing and self.setup.rules.rollout != "streaming":  # there a case needs those before
            again: list[Trace] = []

            def keep(done: CaseDone) -> None:
                assert done.episode is not None
                again.append(Trace(done.row.case, done.episode))

            await self._unstored(design, missing, keep, split)
            for trace in again:
                await aside(self.archive.add_trace, evaluation, trace.case, trace.episode)
                kept[trace.case] = trace
        return [kept[case] for case in cases if case in kept]

    async def _unstored(
        self, design: Design, tasks: Sequence[str], keep: Emit, split: str = "train", **how: Any
    ) -> JobDone:
        job = Job(
            key=f"unstored-{design.id}",
            setup=self.setup,
            split=split,
            cases=tuple(Case(task) for task in tasks),
            design=design,
            experiences=await self.collected(split),
            keep_all=True,
            **how,
        )
        async with self._permits:
            return await self.executor.run(job, keep)

    def traced(self, split: str) -> frozenset[str]:
        """The tasks whose episodes are kept: spread over the split, the same for every design."""
        return frozenset(self._spread(split)[:TRACED_TASKS])

    def probation(self, split: str) -> Probation:
        """The cases that come first: spread over the split, or where a chain begins."""
        if self.setup.rules.rollout == "streaming":
            return Probation(self.plan(split).cases[:STRIKES])
        return Probation(tuple(Case(task) for task in self._spread(split)[:STRIKES]))

    def stopped(self, evaluation: Evaluation) -> str:
        """Why the design was not played to the end; empty where it was, or may be yet."""
        rows = {row.case: row for row in evaluation.rows}
        return self.probation(evaluation.fingerprint.split).standing(rows).stopped

    def _spread(self, split: str) -> list[str]:
        tasks = (task.id for task in self.plan(split).deployment)
        return sorted(tasks, key=lambda task: derive_seed("traced", task))

    # --- collection --------------------------------------------------------------------------

    async def collected(self, split: str) -> str:
        """The blob of collected experiences: played once per agent and seed, for all designs."""
        if split not in self._collected:
            self._collected[split] = await self._collect(split)
        return self._collected[split]

    def to_collect(self, split: str) -> int:
        """How many cases must be played before the first design learns from them."""
        tasks = self.plan(split).collection
        return 0 if self.archive.collection(self._collection(split)) is not None else len(tasks)

    def _collection(self, split: str) -> str:
        return content_id(
            "collection",
            self.domain.name,
            self.domain.version,
            self._agent,
            self.setup.seed,
            self.setup.rules.max_steps,
            [t.id for t in self.plan(split).collection],
        )

    async def _collect(self, split: str) -> str:
        tasks, key = self.plan(split).collection, self._collection(split)
        if not tasks:
            return ""
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

    async def _play(self, job: Job, evaluation_id: str) -> JobDone:
        """All of an evaluation: the shard with the first cases leads, the others wait for them."""
        lead, *others = shards(job, self.plan(job.split), self.executor.slots)
        decided, stopped = asyncio.Event(), False

        def judge(rows: Mapping[Case, CaseResult]) -> None:
            nonlocal stopped
            standing = job.probation.standing(rows) if job.probation else PASSED
            stopped = bool(standing.stopped)
            if standing.next_case is None:
                decided.set()

        async def leading() -> JobDone:
            done = await self._run(lead, evaluation_id, judge)
            decided.set()
            return done

        async def following(shard: Job) -> JobDone:
            await decided.wait()
            return JobDone() if stopped else await self._run(shard, evaluation_id)

        judge({row.case: row for row in job.known})
        return _joined(await together([leading(), *map(following, others)]))

    async def _run(
        self,
        job: Job,
        evaluation_id: str,
        judge: Callable[[Mapping[Case, CaseResult]], None] | None = None,
    ) -> JobDone:
        """One job, with what the clock stopped played again; `judge` sees the rows as they come."""
        seen = {row.case: row for row in job.known}
        writer = RowWriter(self.archive, evaluation_id)

        def keep(done: CaseDone) -> None:
            case = done.row.case
            writer.add(done)
            if self.on_case and case not in seen:  # a chain that is played again was seen before
                self.on_case(done.row)
            seen[case] = done.row
            if judge:
                judge(seen)

        error = ""
        chain = self.setup.rules.rollout == "streaming"
        while True:
            try:
                async with self._permits:
                    done = await self.executor.run(job, keep)
            finally:
                await writer.finish()
            error = error or done.error
            if not done.wall_stops:
                return replace(done, error=error)
            again = job if chain else replace(job, race=None, probes=(), cases=done.wall_stops)
            known = () if chain else tuple(seen.values())
            try:
                alone = await self._alone(replace(again, clock_counts=True, known=known), keep)
            finally:
                await writer.finish()
            error = error or alone.error
            stopped = job.probation and job.probation.standing(seen).stopped
            played = chain or job.until_failure or all(case in seen for case in job.cases)
            if played or stopped:
                return replace(alone, error=error)
            # What goes on hanging is believed, once it has hung alone a few times.
            hung = sum(row.failure.startswith(HANGS) for row in seen.values())
            job = replace(job, known=tuple(seen.values()), clock_counts=hung >= FEW_HANGS)

    async def _alone(self, job: Job, keep: Callable[[CaseDone], None]) -> JobDone:
        """A stop by the clock may be the machine's fault: played again with nothing beside it."""
        async with self._one_alone:
            for _ in range(self.executor.slots):
                await self._permits.acquire()
            try:
                return await self.executor.run(job, keep)
            finally:
                for _ in range(self.executor.slots):
                    self._permits.release()

    async def _fail_the_rest(
        self, evaluation: Evaluation, cases: Sequence[Case], reason: str
    ) -> None:
        known = {row.case for row in evaluation.rows}
        rest = [
            CaseResult(case.task_id, case.repeat, 0.0, 0, failure=reason)
            for case in cases
            if case not in known
        ]
        await aside(self.archive.add_rows, evaluation.id, rest)
        for row in rest:
            if self.on_case:
                self.on_case(row)

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
