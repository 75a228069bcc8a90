"""What every executor must do, as a suite that any executor can be put through.

class TestMyExecutor(ExecutorConformance):
    def make(self, blobs): return MyExecutor(blobs)
"""

import asyncio
import zlib
from dataclasses import replace

from metamem.core.errors import EngineFault
from metamem.core.ids import canonical_json
from metamem.core.types import Case, CaseResult, Design, Experience, Step
from metamem.evaluation.jobs import Blobs, CaseDone, Executor, Job, JobDone, Setup, Spec
from metamem.evaluation.rules import Rules

DESIGN = Design('''
from metamem.designs import Memory


class Doors(Memory):
    """Which door each thing was found behind."""

    def __init__(self, tools):
        self.found = {}
        self.asked = 0

    async def update(self, experience):
        for step in experience.steps:
            if step.reward == 1.0:
                self.found[experience.goal] = [s.action for s in experience.steps]

    async def retrieve(self, query):
        self.asked += 1
        return "\\n".join([f"asked {self.asked}", *self.found.get(query.goal, [])])
''')

BROKEN = Design('''
from metamem.designs import Memory


class Broken(Memory):
    """Fails when asked."""

    async def update(self, experience):
        pass

    async def retrieve(self, query):
        raise ValueError("no answer")
''')

FAULTY_DOMAIN = "metamem.evaluation.conformance:FaultyDomain"
EXPERIENCES = "conformance"


def _blob(key: str) -> bytes:
    from metamem.domains.toy import ToyDomain

    domain = ToyDomain()
    lines = []
    for task in domain.tasks("train")[:20]:
        actions = domain.oracle(task).splitlines()
        steps = tuple(Step(a[3:], "", (), float(n == 1), n == 1) for n, a in enumerate(actions))
        lines.append(canonical_json(Experience(task.goal, "", (), steps, 1.0).to_json()))
    return zlib.compress("\n".join(lines).encode())


class ExecutorConformance:
    """Each test is one sentence of the contract in `metamem.evaluation.jobs.Executor`."""

    def make(self, blobs: Blobs) -> Executor:
        raise NotImplementedError

    def setup_for(self, domain: str = "toy", **rules: int) -> Setup:
        return Setup(Spec(domain), Spec("random"), Spec("hashed"), Rules(**rules))  # type: ignore[arg-type]

    def job(self, cases: int = 12, design: Design | None = DESIGN, domain: str = "toy") -> Job:
        wanted = tuple(Case(f"valid-{n:03d}", r) for r in range(2) for n in range(cases // 2))
        return Job(
            key=f"job-{cases}",
            setup=self.setup_for(domain),
            split="valid",
            cases=wanted,
            design=design,
            experiences=EXPERIENCES if design else "",
            keep_all=True,
        )

    async def play(self, executor: Executor, job: Job) -> tuple[list[CaseResult], JobDone]:
        rows: list[CaseResult] = []

        def keep(done: CaseDone) -> None:
            assert done.episode is not None or not job.keep_all
            rows.append(done.row)

        done = await executor.run(job, keep)
        return sorted(rows, key=lambda r: (r.task_id, r.repeat)), done

    async def test_every_case_once(self) -> None:
        executor = self.make(_blob)
        try:
            rows, done = await self.play(executor, self.job())
        finally:
            await executor.close()
        assert [r.case for r in rows] == sorted(
            self.job().cases, key=lambda c: (c.task_id, c.repeat)
        )
        assert not done.error
        assert all(r.advice_tokens > 0 for r in rows)

    async def test_rows_do_not_depend_on_company(self) -> None:
        executor = self.make(_blob)
        try:
            alone, _ = await self.play(executor, self.job())
            jobs = [self.job(n) for n in (4, 12, 8, 12)]
            beside = await asyncio.gather(*(self.play(executor, job) for job in jobs))
        finally:
            await executor.close()
        assert beside[1][0] == alone
        assert beside[3][0] == alone
        assert all(row in alone for rows, _ in beside for row in rows)

    async def test_deployment_is_frozen(self) -> None:
        """What one retrieve does to the memory is never seen by another case."""
        executor = self.make(_blob)
        try:
            rows, _ = await self.play(executor, self.job())
        finally:
            await executor.close()
        digests = {r.task_id: r.advice_digest for r in rows if r.repeat == 0}
        assert all(digests[r.task_id] == r.advice_digest for r in rows)

    async def test_a_design_that_fails_is_scored(self) -> None:
        executor = self.make(_blob)
        try:
            rows, done = await self.play(executor, self.job(design=BROKEN))
        finally:
            await executor.close()
        assert "no answer" in done.error
        assert all(r.reward == 0.0 and "no answer" in r.failure for r in rows)

    async def test_known_cases_are_not_played_again(self) -> None:
        executor = self.make(_blob)
        try:
            whole, _ = await self.play(executor, self.job())
            rest, _ = await self.play(executor, replace(self.job(), known=tuple(whole[:5])))
        finally:
            await executor.close()
        assert rest == whole[5:]

    async def test_sets_of_parameters_are_scored(self) -> None:
        from metamem.domains.dials import DialsDomain

        space, (least, _) = DialsDomain.space, DialsDomain.reward_range
        executor = self.make(_blob)
        try:
            job = replace(self.job(domain="dials"), experiences="", keep_all=False)
            good = replace(job, design=space.design(space.defaults()))
            rows, done = await self.play(executor, good)
            again, _ = await self.play(executor, good)
            wrong, told = await self.play(executor, replace(job, design=Design("{}", "params")))
        finally:
            await executor.close()
        assert rows == again and not done.error
        assert all(row.reward > least and row.costs["watts"] > 0 for row in rows)
        assert "'gain' is missing" in told.error
        assert all(row.reward == least and row.failure for row in wrong) and len(wrong) == len(rows)

    async def test_a_faulty_world_is_reported_not_scored(self) -> None:
        executor = self.make(_blob)
        try:
            try:
                await self.play(executor, self.job(domain=FAULTY_DOMAIN, design=None))
            except EngineFault as fault:
                assert "the floor gave way" in str(fault)
            else:
                raise AssertionError("a fault of the world went by unreported")
            rows, _ = await self.play(executor, self.job())  # and the executor is still of use
        finally:
            await executor.close()
        assert len(rows) == 12


def FaultyDomain() -> object:
    """The toy domain with a world that breaks."""
    from metamem.domains.toy import ToyDomain, ToyWorld

    class Broken(ToyWorld):
        def step(self, action: str) -> None:  # type: ignore[override]
            raise RuntimeError("the floor gave way")

    class Faulty(ToyDomain):
        def world(self, task: object, seed: int) -> Broken:
            return Broken("", {})

    return Faulty()
