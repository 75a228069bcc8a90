"""The same question is put to a frozen memory once; what streams, or asks a model, is asked anew."""

import zlib

from metamem.core.ids import canonical_json
from metamem.core.types import Case, Design, Experience
from metamem.domains.toy import ToyDomain
from metamem.evaluation.inline import InlineExecutor
from metamem.evaluation.jobs import CaseDone, Job, JobDone, Setup, Spec
from metamem.evaluation.plans import Plan
from metamem.evaluation.rules import Rules
from metamem.evaluation.shards import SHARD_CASES, shards
from tests.hosting.designs import COUNTING

TASKS = [task.id for task in ToyDomain().tasks("valid")[:4]]
REPEATS = 3
LIVED = zlib.compress(canonical_json(Experience("a goal").to_json()).encode())


async def played(
    design: Design = COUNTING, *, repeats: int = REPEATS, model: bool = False, **rules: object
) -> tuple[JobDone, dict[Case, CaseDone]]:
    async def ask(*_: object) -> None:
        raise AssertionError("nothing asks it")

    setup = Setup(
        Spec("toy"), Spec("random"), Spec("auto"), Rules(**rules),  # type: ignore[arg-type]
        models={"memory": "m"} if model else {},
    )  # fmt: skip
    cases = tuple(Case(task, repeat) for repeat in range(repeats) for task in TASKS)
    job = Job("j", setup, "valid", cases, design=design, experiences="all", keep_all=True)
    executor = InlineExecutor(lambda key: LIVED, ask=ask if model else None)
    found: list[CaseDone] = []
    try:
        done = await executor.run(job, found.append)
    finally:
        await executor.close()
    return done, {case.row.case: case for case in found}


def advice(done: CaseDone) -> list[str]:
    assert done.episode is not None
    return [given.text for given in done.episode.advice]


async def test_repeats_of_a_task_share_their_first_answer() -> None:
    reading = Design(COUNTING.source.replace("return f", "query.goal\n        return f"))
    goals = {task.goal for task in ToyDomain().tasks("valid")[:4]}
    done, _ = await played(reading)
    assert done.cpu.calls["retrieve"] == len(goals) == len(TASKS)
    done, found = await played()
    assert done.cpu.calls["retrieve"] == 1  # nothing of the question is read: there is one answer
    assert len(found) == REPEATS * len(TASKS)
    assert {line for case in found.values() for line in advice(case)} == {
        "asked 1, seen 1: ['a goal']"
    }
    assert all(case.row.measured.retrieve_ms > 0 for case in found.values())


async def test_they_go_as_if_each_were_played_alone() -> None:
    _, together = await played(ask_every=2)
    _, alone = await played(ask_every=2, repeats=1)
    for case, done in alone.items():
        assert done.row.actions_digest == together[case].row.actions_digest
        assert advice(done) == advice(together[case])


async def test_what_could_answer_otherwise_is_asked_every_time() -> None:
    for rules in ({"rollout": "streaming"}, {"model": True}):
        done, found = await played(**rules)  # type: ignore[arg-type]
        assert done.cpu.calls["retrieve"] == len(found) == REPEATS * len(TASKS)
    long = Design(COUNTING.source.replace("return f", "return 200_000 * '.' + f"))
    done, found = await played(long)
    assert done.cpu.calls["retrieve"] == len(found)


def test_the_repeats_of_a_task_are_played_in_one_part() -> None:
    tasks = ToyDomain().tasks("train")[:35]
    plan = Plan((), tuple(tasks), 4, "train")
    job = Job("j", Setup(Spec("toy"), Spec("random"), Spec("auto"), Rules()), "train", plan.cases)
    parts = shards(job, plan, 2)
    dealt = [case for part in parts for case in part.cases]
    assert len(dealt) == len(plan.cases) and set(dealt) == set(plan.cases)
    one, other = ({case.task_id for case in part.cases} for part in parts)
    assert not one & other
    few = Plan((), tuple(tasks[:1]), 3 * SHARD_CASES, "train")
    (whole,) = shards(Job("j", job.setup, "train", few.cases), few, 2)
    assert whole.cases == few.cases
