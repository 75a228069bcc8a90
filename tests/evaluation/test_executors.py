"""Both executors through the suite that ships with the package, and the local one's own duties."""

import asyncio
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from metamem.core.errors import EngineFault
from metamem.core.types import Design
from metamem.evaluation.conformance import DESIGN, ExecutorConformance, _blob
from metamem.evaluation.inline import InlineExecutor
from metamem.evaluation.jobs import Job, Setup, Spec
from metamem.evaluation.local import LocalExecutor
from metamem.evaluation.rules import Rules


class TestInline(ExecutorConformance):
    def make(self, blobs):
        return InlineExecutor(blobs)


class TestLocal(ExecutorConformance):
    def make(self, blobs):
        return LocalExecutor(blobs, workers=2)


def children(pid: int) -> set[int]:
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        if parent == pid:
            found.add(int(folder.name))
    return found


async def test_a_worker_killed_in_the_middle_is_replaced_and_no_case_is_lost_or_doubled():
    suite = TestLocal()
    executor = LocalExecutor(_blob, workers=1)
    before = children(os.getpid())
    emitted = []

    def emit(done):
        emitted.append(done.row)
        if len(emitted) == 3:
            for worker in children(os.getpid()) - before:
                os.kill(worker, signal.SIGKILL)

    try:
        undisturbed, _ = await suite.play(executor, suite.job())
        await executor.run(suite.job(), emit)
    finally:
        await executor.close()
    assert sorted(emitted, key=lambda r: (r.task_id, r.repeat)) == undisturbed


HANGING = "tests.evaluation.test_executors:hanging_domain"
DYING = "tests.evaluation.test_executors:dying_domain"


def hanging_domain():
    from metamem.domains.toy import ToyDomain, ToyWorld

    class Hangs(ToyWorld):
        def step(self, action):
            while True:
                pass

    class Domain(ToyDomain):
        def world(self, task, seed):
            return Hangs("", {})

    return Domain()


def dying_domain():
    from metamem.domains.toy import ToyDomain

    class Domain(ToyDomain):
        def world(self, task, seed):
            os.kill(os.getpid(), signal.SIGKILL)

    return Domain()


@pytest.mark.parametrize("domain", [HANGING, DYING])
async def test_a_world_that_hangs_or_kills_its_worker_is_given_up_and_leaves_nothing_behind(domain):
    executor = LocalExecutor(_blob, workers=1, stall_seconds=4.0)
    before = children(os.getpid())
    job = Job("hang", Setup(Spec(domain), Spec("random"), Spec("hashed"), Rules()), "valid",
              TestLocal().job(2).cases)  # fmt: skip
    try:
        with pytest.raises(EngineFault, match="failed 3 times: a worker"):
            await executor.run(job, lambda done: None)
        rows, _ = await TestLocal().play(executor, TestLocal().job())
        assert len(rows) == 12
    finally:
        await executor.close()
    await asyncio.sleep(0.1)
    assert children(os.getpid()) <= before


@pytest.mark.parametrize("cap", [1, 3])
async def test_caps_hold_across_episodes_and_change_no_row(cap):
    slow = Design(DESIGN.source.replace("self.asked += 1", "__import__('time').sleep(0.2)"))
    suite, executor = TestInline(), InlineExecutor(_blob)
    job = suite.job(design=slow)
    setup = replace(suite.setup_for(), parallel=8, retrieves=cap)
    try:
        rows, done = await suite.play(executor, replace(job, setup=setup))
        serial, _ = await suite.play(executor, job)
    finally:
        await executor.close()
    assert rows == serial
    assert done.peaks["retrieves"] == cap  # the cap binds, and holds
    assert cap < done.peaks["episodes"] <= 8


@pytest.mark.parametrize(("cap", "at_once"), [(1, 1), (2, 2), (3, 3), (8, 4)])
async def test_caps_hold_over_all_workers_together(cap, at_once):
    """Four workers: where a cap is small, fewer jobs run, and each gets its part of the cap."""
    suite, executor = TestLocal(), LocalExecutor(_blob, workers=4)
    setup = replace(suite.setup_for(), retrieves=cap)
    running, most, peaks = 0, 0, []
    inner = executor._once

    async def watched(job, emit):
        nonlocal running, most
        running += 1
        most = max(most, running)
        try:
            return await inner(job, emit)
        finally:
            running -= 1

    executor._once = watched
    jobs = [replace(suite.job(2), key=str(n), setup=setup) for n in range(5)]
    try:
        for _, done in await asyncio.gather(*(suite.play(executor, job) for job in jobs)):
            peaks.append(done.peaks["retrieves"])
    finally:
        await executor.close()
    assert most <= at_once
    assert most * max(peaks) <= cap
