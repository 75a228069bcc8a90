"""Memories: an agent plays each task in a world, advised by what the design remembers."""

import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from metamem.core import registry
from metamem.core.episode import Ask, cap_advice, play
from metamem.core.errors import DesignFailure, EngineFault, MetamemError
from metamem.core.ids import derive_seed
from metamem.core.needs import needs_of
from metamem.core.protocols import Agent, CallSite, Domain, Learner, Seat, World, WorldDomain
from metamem.core.types import Case, CaseResult, Design, Episode, Measurement, Query, Task
from metamem.core.waiting import Answer, Wait
from metamem.designs import TOOLBOX_VERSION
from metamem.designs.jailed import Jail
from metamem.designs.limits import Limits
from metamem.evaluation.answers import Answers
from metamem.evaluation.behaviour import actions_digest, advice_digest
from metamem.evaluation.caps import Cap
from metamem.evaluation.chats import Chats
from metamem.evaluation.examples import EXAMPLES_VERSION, Examples, demonstrator, wanted
from metamem.evaluation.jobs import CaseDone, Job, JobDone, Setup
from metamem.evaluation.kinds import Players, Shares, Ways
from metamem.evaluation.lessons import read_lessons
from metamem.evaluation.memories import Memories
from metamem.evaluation.probation import HANGS
from metamem.evaluation.reserve import reserve_of
from metamem.evaluation.rules import Rules, halved
from metamem.evaluation.scrambling import given
from metamem.hosting.memory import HostedMemory
from metamem.models.embedders import AnyEmbedder, open_embedder

# Not a design: the ceiling, advised by the domain's own answers. It never runs.
ORACLE = Design("# The domain's own answers: a ceiling for reports, not a memory.\n", name="oracle")


class MemoriesKind:
    ceiling = ORACLE
    keeps_episodes = True

    def shares(self, domain: Domain, split: str, rules: Rules) -> Shares:
        own = list(domain.tasks(split))
        if any(task.group for task in own):
            return _shares_of_groups(domain, split, rules)
        if rules.tasks_from == "alma" and split == "shift":  # what is known comes from home
            return Shares(halved(domain.tasks("test"), 0)[0], halved(own, 0)[1], "test")
        if rules.tasks_from == "alma" or split == "train":
            shares = Shares(*halved(own, rules.fold if split == "train" else 0), split)
        else:
            shares = Shares(domain.tasks("train"), own, "train")
        return _furthered(shares, domain, split, rules)

    def players(self, domain: WorldDomain, setup: Setup) -> Players:
        agent: Agent = registry.create("agents", setup.agent.name, **setup.agent.settings)
        embedder = open_embedder(setup.embedder.name, setup.embedder.settings)
        named = agent.fingerprint
        if needs_of("agents", setup.agent.name).model:  # with another model it is another agent
            model = setup.models.get("agent", "no model")
            named += f" with {model}, {setup.window} tokens"
        examples = wanted(agent)
        if examples:
            named += f", {EXAMPLES_VERSION} by {demonstrator(domain).fingerprint}"
        collector = ""
        if setup.collector:
            other: Agent = registry.create(
                "agents", setup.collector.name, **setup.collector.settings
            )
            collector = other.fingerprint
            named += f", taught by {collector}"
        limits = Limits(**setup.limits).to_json()
        return Players(named, embedder.fingerprint, TOOLBOX_VERSION, limits, collector, examples)

    async def open(self, domain: WorldDomain, setup: Setup, ways: Ways) -> "PlayingGround":
        jail = Jail(limits=Limits(**setup.limits), isolation=setup.isolation)
        await jail.start()
        return PlayingGround(
            domain,
            registry.create("agents", setup.agent.name, **setup.agent.settings),
            open_embedder(setup.embedder.name, setup.embedder.settings, ways.embed),
            jail,
            ways,
            Cap(setup.retrieves),
            Cap(setup.updates),
        )


def _shares_of_groups(domain: Domain, split: str, rules: Rules) -> Shares:
    """Each group has a memory of its own; what is collected are the lives of other groups."""
    train, own = domain.tasks("train"), domain.tasks(split)
    others = _groups(train)
    deployed = _groups(own)
    if split == "train":
        others, deployed = halved(others, rules.fold)
    most = getattr(domain, "lives", 0) or len(others)
    others = others[:most] if rules.collect is None else others
    shares = Shares(_of(others, train), _of(deployed, own), "train")
    if split != "train" or rules.tasks <= len(shares.deployment):
        return shares  # nothing is made that nobody reads
    further = reserve_of(domain)
    return replace(shares, further_deployment=_of(halved(_groups(further), rules.fold)[1], further))


def _of(groups: Sequence[str], tasks: Sequence[Task]) -> Sequence[Task]:
    return [task for task in tasks if task.group in groups]


def _groups(tasks: Sequence[Task]) -> Sequence[str]:
    return list(dict.fromkeys(task.group for task in tasks))


def _furthered(shares: Shares, domain: Domain, split: str, rules: Rules) -> Shares:
    """With the reserve of train, where more is asked for than an ordinary evaluation plays."""
    more_collected = (rules.collect or 0) > len(shares.collection)
    more_deployed = split == "train" and rules.tasks > len(shares.deployment)
    if shares.collected_from != "train" or not (more_collected or more_deployed):
        return shares  # nothing is made that nobody reads
    further = reserve_of(domain)
    if split != "train":
        return replace(shares, further_collection=further)
    collected, deployed = halved(further, rules.fold)
    return replace(shares, further_collection=collected, further_deployment=deployed)


@dataclass
class PlayingGround:
    domain: WorldDomain
    agent: Agent
    embedder: AnyEmbedder
    jail: Jail
    ways: Ways
    retrieves: Cap
    updates: Cap
    tasks: dict[str, dict[str, Task]] = field(default_factory=dict)
    taught: dict[str, Agent] = field(default_factory=dict)  # by what they learned from

    def who_plays(self, job: Job) -> Agent:
        """The agent; one that learns, with what it learned."""
        if not job.lessons or not isinstance(self.agent, Learner):
            return self.agent
        if job.lessons not in self.taught:
            lessons = read_lessons(self.ways.blobs, job.lessons)
            self.taught[job.lessons] = self.agent.taught(lessons)
        return self.taught[job.lessons]

    def hand(self, job: Job) -> "AdvisedHand":
        return AdvisedHand(job, self)

    def task(self, split: str, task_id: str) -> Task:
        if split not in self.tasks:
            self.tasks[split] = {t.id: t for t in self.domain.tasks(split)}
        if split == "train" and task_id not in self.tasks[split]:
            self.tasks[split] |= {t.id: t for t in reserve_of(self.domain)}
        return self.tasks[split][task_id]

    async def close(self) -> None:
        await self.jail.close()


class AdvisedHand:
    """A memory, the oracle or nobody advises the agent."""

    def __init__(self, job: Job, ground: PlayingGround) -> None:
        self._job, self._ground = job, ground
        # What streams may answer otherwise every time.
        self._answers = Answers() if job.setup.rules.rollout == "frozen" else None
        self._agent = ground.who_plays(job)
        self._examples = Examples(job, ground.domain, self._agent, self._advising)
        self._memories: Memories | None = None
        if job.design is not None:
            self._memories = Memories(
                job,
                ground.domain,
                ground.jail,
                ground.embedder,
                ground.updates,
                ground.ways.blobs,
                Chats(job, ground.ways.ask),
            )

    async def ready(self) -> None:
        """Feeds the memory, where all tasks share one."""
        job, ground = self._job, self._ground
        grouped = any(ground.task(job.split, case.task_id).group for case in job.cases)
        if self._memories is not None and not grouped:
            await self._memories.get("")

    async def twin(self) -> str:
        """The known design that gives the same advice on the first query of every probe task.

        Asks no longer than some known design is still alike: a new one mostly differs at once.
        """
        alike = dict(self._job.behaviours)
        asking = replace(self._job, advice_only=True)
        for place, task_id in enumerate(self._job.probes):
            if not alike:
                return ""
            try:
                done, _ = await self._case(asking, Case(task_id))
            except DesignFailure:  # it is slow: its cases will tell
                return ""
            if done.row.failure:
                return ""
            digest = done.row.advice_digest
            alike = {design: told for design, told in alike.items() if told[place] == digest}
        return next(iter(alike), "")

    async def play(self, case: Case) -> tuple[CaseDone, str]:
        return await self._case(self._job, case)

    def told(self, done: JobDone) -> JobDone:
        if self._memories is None:
            return done
        caps = {"retrieves": self._ground.retrieves, "updates": self._ground.updates}
        return replace(
            done,
            logs=self._memories.logs,
            cpu=self._memories.cpu,
            peaks={**done.peaks, **{name: cap.peak for name, cap in caps.items()}},
        )

    async def close(self) -> None:
        if self._memories is not None:
            await self._memories.close()

    async def _case(self, job: Job, case: Case) -> tuple[CaseDone, str]:
        ground, rules = self._ground, job.setup.rules
        task = ground.task(job.split, case.task_id)
        seed = derive_seed(job.setup.seed, job.phase, task.id, case.repeat)
        chats = Chats(job, ground.ways.ask)
        streaming = rules.rollout == "streaming" and not job.advice_only
        begun, asked = time.perf_counter(), 0.0
        memory = None
        episode, failure = Episode(task.id, task.goal, "", (), (), 0.0), None
        costs: dict[str, float] = {}

        def took(seconds: float) -> None:
            nonlocal asked
            asked += seconds

        try:
            if self._memories is not None:
                memory = await self._memories.get(task.group)
            most = ground.jail.limits.model_calls if rules.asks_again else None
            here = chats.for_design(job.phase, task.id, case.repeat, most)
            ask = self._asker(job, task, memory, here, took)
            chat = chats.for_agent(task.id, case.repeat)
            examples = () if job.advice_only else await self._examples.get()
            seat = Seat(
                task.goal,
                seed,
                ground.domain.rules,
                ground.domain.forms,
                chat,
                job.setup.window,
                examples,
            )
            episode = await _play_guarded(ground, self._agent, task, seat, ask, job, costs)
            if streaming and memory is not None:
                then = chats.for_design("stream", task.id, case.repeat)
                for lived in given([episode.experience()], rules.experience):
                    async with ground.updates:
                        await memory.update(lived, then)
        except DesignFailure as caught:
            if caught.kind == HANGS and not job.clock_counts:
                raise
            failure = caught
        measured = Measurement(time.perf_counter() - begun, asked * 1000)
        least = ground.domain.reward_range[0]
        row = _row(case, episode, failure, least, chats, measured)
        if rules.asks_again and memory is not None:
            costs["asks"] = len(episode.advice)
        row = replace(row, costs=costs)
        keep = job.keep_all or case.task_id in job.keep_episodes
        return CaseDone(row, episode if keep else None), str(failure) if failure else ""

    def _asker(
        self,
        job: Job,
        task: Task,
        memory: HostedMemory | None,
        here: CallSite,
        took: Callable[[float], None],
    ) -> Ask | None:
        """Who advises at one task: a memory, the oracle or nobody."""

        async def from_memory(query: Query) -> Answer:
            assert memory is not None
            if job.advice_only and self._answers is None:
                return Answer(await memory.consult(query, here))
            async with self._ground.retrieves:
                if self._answers is None:
                    answer = await memory.answer(query, here)
                else:
                    answer = await self._answers.ask(memory, task.group, query, here)
            took(answer.seconds)
            return answer

        async def from_oracle(query: Query) -> Answer:
            return Answer(self._ground.domain.oracle(task), Wait())  # all there is to say

        return from_oracle if job.oracle else from_memory if memory else None

    async def _advising(self, task: Task) -> Ask | None:
        """Who advises at a task that an example is made of; nothing of it is remembered."""
        memory = None
        if self._memories is not None:
            memory = await self._memories.get(task.group)
        here = Chats(self._job, self._ground.ways.ask).for_design("examples", task.id)
        if memory is not None and self._answers is None:

            async def consult(query: Query) -> Answer:
                async with self._ground.retrieves:
                    return Answer(await memory.consult(query, here))

            return consult
        return self._asker(self._job, task, memory, here, lambda seconds: None)


async def _asked(task: Task, world: World, ask: Ask | None, tokens: int) -> Episode:
    """What memory says before the first action; nothing is played."""
    seen = world.reset()
    said = await ask(Query(task.goal, seen.text, seen.actions)) if ask else Answer(None)
    advice = cap_advice(said.advice, tokens)
    return Episode(task.id, task.goal, seen.text, seen.actions, (), 0.0, (advice,))


async def _play_guarded(
    ground: PlayingGround,
    agent: Agent,
    task: Task,
    seat: Seat,
    ask: Ask | None,
    job: Job,
    costs: dict[str, float],
) -> Episode:
    """Play, telling the faults of world and machine from those of design and agent. What else the
    player took goes into `costs`."""
    domain, rules = ground.domain, job.setup.rules
    try:
        world = domain.world(task, seat.seed)
        try:
            if job.advice_only:
                return await _asked(task, world, ask, rules.advice_tokens)
            player = agent.start(seat)
            episode = await play(
                task,
                world,
                player,
                ask,
                max_steps=rules.max_steps or domain.max_steps,
                advice_tokens=rules.advice_tokens,
                ask_every=rules.ask_every,
                ask_when=rules.ask_when,
            )
            costs.update(getattr(player, "took", {}))
            return episode
        finally:
            with suppress(OSError):
                world.close()
    except MetamemError:
        raise
    except Exception as error:
        where = "".join(traceback.format_exception(error)[-3:])
        raise EngineFault(f"{domain.name}, task {task.id}: {error}", hint=where) from error


def _row(
    case: Case,
    episode: Episode,
    failure: DesignFailure | None,
    least: float,
    chats: Chats,
    measured: Measurement,
) -> CaseResult:
    return CaseResult(
        task_id=case.task_id,
        repeat=case.repeat,
        reward=least if failure else float(episode.reward),
        steps=len(episode.steps),
        advice_tokens=sum(a.tokens for a in episode.advice),
        advice_truncated=any(a.truncated for a in episode.advice),
        advice_digest=advice_digest([a.text for a in episode.advice]),
        actions_digest="" if failure else actions_digest(s.action for s in episode.steps),
        model_calls=chats.calls,
        tokens=chats.tokens,
        failure=failure.short if failure else "",
        measured=measured,
    )
