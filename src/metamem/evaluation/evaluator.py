"""Designs in, evaluations out: plans the cases, reuses what is known, stores every row."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from metamem.core import registry
from metamem.core.aside import aside
from metamem.core.errors import EngineFault
from metamem.core.ids import derive_seed
from metamem.core.protocols import Domain
from metamem.core.types import Case, CaseResult, Design, Episode, Evaluation, Fingerprint
from metamem.evaluation.collecting import Collector
from metamem.evaluation.dispatch import Dispatcher, Note
from metamem.evaluation.jobs import CaseDone, Emit, Executor, Job, JobDone, Setup
from metamem.evaluation.kinds import kind_of
from metamem.evaluation.lessons import Lessons
from metamem.evaluation.origins import enter_origin
from metamem.evaluation.plans import Plan, plan
from metamem.evaluation.probation import STOPPED, STRIKES, Probation
from metamem.evaluation.racing import Race
from metamem.evaluation.record import OnCase, Record
from metamem.evaluation.rows import RowWriter
from metamem.evaluation.streaks import Streaks
from metamem.store.facets import Blobs, Collections, Designs, Erasures, Evaluations, Reads
from metamem.store.records import ReadRecord, Trace, utc_now

HELD_OUT = ("test", "shift")
TRACED_TASKS = 12  # episodes kept whole per evaluation, on the same tasks for every design


class Records(Designs, Evaluations, Collections, Blobs, Reads, Erasures, Protocol):
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
        note: Note | None = None,
    ) -> None:
        """`on_case` sees each row that comes in; `note` is told what takes longer than it should."""
        self.archive, self.executor, self.setup = archive, executor, setup
        self.run_id, self.on_case = run_id, on_case
        self.domain: Domain = registry.create("domains", setup.domain.name, **setup.domain.settings)
        self.kind = kind_of(self.domain)
        self._players = self.kind.players(self.domain, setup)
        self._plans: dict[str, Plan] = {}
        self._dispatcher = Dispatcher(executor, note)
        # Who plays what designs learn from may be another agent than the one that is advised.
        collecting, players = setup, self._players
        if setup.collector:
            collecting = replace(setup, agent=setup.collector, collector=None)
            players = replace(players, agent=players.collector)
        self._collector = Collector(archive, self._dispatcher, collecting, self.domain, players)
        self._collected: dict[str, str] = {}  # by split; what the archive holds stays there
        self._lessons = Lessons(archive, self._collector, setup, self.domain, players.agent)

    def plan(self, split: str) -> Plan:
        if split not in self._plans:
            self._plans[split] = plan(self.domain, split, self.setup.rules, self._players.examples)
        return self._plans[split]

    def fingerprint(self, design: Design, split: str) -> Fingerprint:
        return Fingerprint(
            design=design.id,
            domain=self.domain.name,
            data_version=self.domain.version,
            split=split,
            rules=self.setup.rules.to_json(),
            agent=self._players.agent,
            models=dict(self.setup.models),
            embedder=self._players.embedder,
            toolbox=self._players.toolbox,
            limits=self._players.limits,
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
        job = Job(
            key=fingerprint.id,
            setup=self.setup,
            split=split,
            cases=todo.cases,
            keep_episodes=self.traced(split),
            race=race,
            known=known.rows,
            behaviours=behaviours or {},
            probes=tuple(probes),
            examples=self._examples(split),
            lessons=await self._lessons.blob(split, self.on_case),
        )
        if design == self.kind.ceiling:
            job = replace(job, oracle=True)
        else:
            streaks = replace(self.streaks(split, race), least=self.domain.reward_range[0])
            job = replace(
                job,
                cases=streaks.cases,
                design=design,
                experiences=await self.collected(split),
                probation=self.probation(split),
                streaks=streaks,
            )
        record = Record(
            RowWriter(self.archive, fingerprint.id),
            known.rows,
            afresh=self._streaming,
            probation=job.probation,
            streaks=job.streaks,
            on_case=self.on_case,
        )
        done = await self._dispatcher.evaluate(job, todo, record)
        played = await aside(self._stored, fingerprint)
        if reason := self.never_ran(played):
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
            examples=self._examples("train"),
            lessons=await self._lessons.blob("train", self.on_case),
        )
        record = Record(RowWriter(self.archive, ""), on_case=self.on_case)
        return await self._dispatcher.run(job, record)

    def _open(
        self, design: Design, fingerprint: Fingerprint, purpose: str, created_by: str
    ) -> Evaluation:
        """What is known of an evaluation, which is in the archive after this."""
        self.archive.add_design(design, created_by=created_by)
        enter_origin(self.archive, self.domain, "evaluation", fingerprint.id)
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
        others are played again when somebody wants to see them; then they are kept, too. Of cases
        that were stopped there is nothing to see.
        """
        evaluation = self.fingerprint(design, split).id
        kept = {trace.case: trace for trace in await aside(self.archive.traces, evaluation)}
        cases = [Case(task) for task in tasks]
        found = await aside(self.archive.evaluation, evaluation)
        stopped = {r.case for r in found.rows if r.failure.startswith(STOPPED)} if found else set()
        missing = [case.task_id for case in cases if case not in kept and case not in stopped]
        again_alike = self.kind.keeps_episodes and not self._streaming
        if missing and again_alike:  # in a stream a case needs those before
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
            examples=self._examples(split),
            lessons=await self._lessons.blob(split, self.on_case),
            **how,
        )
        return await self._dispatcher.once(job, keep)

    def _examples(self, split: str) -> tuple[str, ...]:
        return tuple(task.id for task in self.plan(split).examples)

    def traced(self, split: str) -> frozenset[str]:
        """The tasks whose episodes are kept: spread over the split, the same for every design."""
        return frozenset(self._spread(split)[:TRACED_TASKS])

    def probation(self, split: str) -> Probation:
        """The cases that come first: spread over the split, or where a chain begins."""
        if self._streaming:
            return Probation(self.plan(split).cases[:STRIKES])
        return Probation(tuple(Case(task) for task in self._spread(split)[:STRIKES]))

    def streaks(self, split: str, race: Race | None = None) -> Streaks:
        """In which order failures in a row are counted: the race's, a chain's, or one of its own."""
        repeats = self.setup.rules.repeats
        if self._streaming:
            return Streaks.of_chains(self.plan(split).chains)
        if race is not None:
            return Streaks.of_race(race.plan, repeats)
        return Streaks.of_plan(self._spread(split), repeats)

    def never_ran(self, evaluation: Evaluation) -> str:
        """Why a design was stopped where it began, and all of it failed; empty where it was not."""
        rows = {row.case: row for row in evaluation.rows}
        return self.probation(evaluation.fingerprint.split).standing(rows).stopped

    @property
    def _streaming(self) -> bool:
        return self.setup.rules.rollout == "streaming"

    def _spread(self, split: str) -> list[str]:
        tasks = (task.id for task in self.plan(split).deployment)
        return sorted(tasks, key=lambda task: derive_seed("traced", task))

    async def collected(self, split: str) -> str:
        """The blob of collected experiences: played once per agent and seed, for all designs."""
        if split not in self._collected:
            self._collected[split] = await self._collector.blob(self.plan(split), self.on_case)
        return self._collected[split]

    async def episodes(self, split: str) -> list[list[Episode]]:
        """What designs learn from, by the round in which it was collected."""
        return await self._collector.episodes(self.plan(split), self.on_case)

    def to_collect(self, split: str) -> int:
        """How many cases must be played before the first design learns from them."""
        return self._collector.missing(self.plan(split))

    async def _fail_the_rest(
        self, evaluation: Evaluation, cases: Sequence[Case], reason: str
    ) -> None:
        known = {row.case for row in evaluation.rows}
        rest = [
            CaseResult(case.task_id, case.repeat, self.domain.reward_range[0], 0, failure=reason)
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
