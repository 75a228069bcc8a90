"""Evaluations: repeatable, resumable, frozen or streaming, raced without loss of rows."""

from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from metamem.api import open_home, running
from metamem.core.types import Case, Design
from metamem.designs.library import load
from metamem.evaluation.behaviour import advice_digest
from metamem.evaluation.evaluator import Evaluator
from metamem.evaluation.jobs import Setup, Spec
from metamem.evaluation.kinds.memories import ORACLE
from metamem.evaluation.racing import Race, RacePlan
from metamem.evaluation.rules import Rules

INLINE = Spec("inline")
COUNTING = Design('''
from metamem.designs import Memory


class Counting(Memory):
    """How many experiences it has seen, and how often it was asked."""

    def __init__(self, tools):
        self.seen = self.asked = 0

    async def update(self, experience):
        self.seen += 1

    async def retrieve(self, query):
        self.asked += 1
        return f"seen {'i' * self.seen} asked {'i' * self.asked}"
''')

SLEEPY = Design('''
import time

from metamem.designs import Memory


class Sleepy(Memory):
    """Waits longer than it may."""

    async def update(self, experience):
        pass

    async def retrieve(self, query):
        time.sleep(30)
        return "late"
''')


@asynccontextmanager
async def evaluating(home, executor=INLINE, note=None, **changes):
    given = {"domain": Spec("toy"), "agent": Spec("reader"), "embedder": Spec("hashed")}
    setup = Setup(**({**given, "rules": Rules()} | changes))
    with open_home(home) as archive:
        async with running(archive, executor) as pool:
            yield Evaluator(archive, pool, setup, note=note)


async def rows_of(home, design, split="valid", **changes):
    async with evaluating(home, **changes) as evaluator:
        return (await evaluator.evaluate(design, split, purpose="test")).evaluation


async def test_the_same_evaluation_twice_in_any_order_gives_the_same_rows(tmp_path):
    designs = [load("success_retrieval"), load("object_places"), COUNTING]
    local = Spec("local", {"workers": 2})
    first = [await rows_of(tmp_path / "a", d) for d in designs]
    second = [await rows_of(tmp_path / "b", d, executor=local) for d in reversed(designs)]
    assert [e.rows for e in first] == [e.rows for e in reversed(second)]
    assert all(e.complete for e in first)


async def test_another_seed_gives_other_play(tmp_path):
    one = await rows_of(tmp_path, load("no_memory"))
    two = await rows_of(tmp_path, load("no_memory"), seed=1)
    assert one.rows != two.rows
    assert one.fingerprint.conditions != two.fingerprint.conditions


async def test_frozen_memory_learns_nothing_while_deployed(tmp_path):
    evaluation = await rows_of(tmp_path, COUNTING, rules=Rules(repeats=2))
    assert len({row.advice_digest for row in evaluation.rows}) == 1


async def test_streaming_memory_learns_from_each_case_in_its_own_repeat(tmp_path):
    rules = Rules(rollout="streaming", repeats=2)
    evaluation = await rows_of(tmp_path, COUNTING, rules=rules)
    by_repeat = [[r.advice_digest for r in evaluation.rows if r.repeat == n] for n in (0, 1)]
    assert len(set(by_repeat[0])) == len(by_repeat[0]) == 40  # each case saw one more experience
    assert by_repeat[0] == by_repeat[1]  # and the repeats did not see each other's


async def test_more_collected_experience_is_more_experience(tmp_path):
    small = await rows_of(tmp_path, COUNTING, rules=Rules(collect=3))
    large = await rows_of(tmp_path, COUNTING, rules=Rules(collect=9))
    assert large.rows[0].advice_tokens > small.rows[0].advice_tokens


async def test_collection_is_played_once_for_all_designs(tmp_path):
    async with evaluating(tmp_path) as evaluator:
        await evaluator.evaluate(COUNTING, "valid", purpose="test")
        await evaluator.evaluate(load("no_memory"), "valid", purpose="test")
        assert len(evaluator.archive.collections()) == 1


async def test_the_oracle_is_a_ceiling_and_needs_no_memory(tmp_path):
    oracle = await rows_of(tmp_path, ORACLE)
    assert oracle.reward == 1.0


async def test_held_out_reads_are_entered_and_others_are_not(tmp_path):
    async with evaluating(tmp_path) as evaluator:
        for split in ("train", "valid", "test", "test"):
            await evaluator.evaluate(load("no_memory"), split, purpose="a look")
        assert [(r.split, r.purpose) for r in evaluator.archive.reads()] == [("test", "a look")] * 2


async def test_interrupted_evaluations_play_only_what_is_missing(tmp_path):
    whole = await rows_of(tmp_path / "whole", load("success_retrieval"))
    async with evaluating(tmp_path / "part") as evaluator:
        design = load("success_retrieval")
        fingerprint = evaluator.fingerprint(design, "valid")
        evaluator.archive.add_design(design)
        evaluator.archive.open_evaluation(fingerprint, whole.planned)
        evaluator.archive.add_rows(fingerprint.id, whole.rows[:30])
        played = []
        evaluator.on_case = played.append
        outcome = await evaluator.evaluate(design, "valid", purpose="test")
    assert outcome.evaluation.rows == whole.rows
    assert {r.task_id for r in whole.rows[:30]}.isdisjoint(
        r.task_id for r in played if r.task_id.startswith("valid")
    )


async def test_a_hopeless_design_is_raced_out_and_a_good_one_is_not(tmp_path):
    async with evaluating(tmp_path) as evaluator:
        tasks = [t.id for t in evaluator.plan("valid").deployment]
        perfect = dict.fromkeys(tasks, 1.0)
        race = Race(RacePlan.build(tasks, seed=1), perfect)
        outcome = await evaluator.evaluate(load("no_memory"), "valid", purpose="test", race=race)
        assert outcome.done.raced_out
        assert 0 < len(outcome.evaluation.rows) < len(tasks)
        again = await evaluator.evaluate(load("no_memory"), "valid", purpose="test", race=race)
        assert again == replace(outcome, done=again.done) and again.done.raced_out
        hopeless = Race(RacePlan.build(tasks, seed=1), dict.fromkeys(tasks, 0.0))
        good = await evaluator.evaluate(COUNTING, "valid", purpose="test", race=hopeless)
        assert good.evaluation.complete and not good.done.raced_out


async def test_a_design_that_behaves_like_a_known_one_is_not_played(tmp_path):
    async with evaluating(tmp_path) as evaluator:
        probes = [t.id for t in evaluator.plan("valid").deployment]
        first = await evaluator.evaluate(COUNTING, "valid", purpose="test")
        told = {row.task_id: row.advice_digest for row in first.evaluation.rows}
        known = {COUNTING.id: tuple(told[task] for task in probes)}
        twin = Design(COUNTING.source + "\n# the same in other words\n")
        second = await evaluator.evaluate(
            twin,
            "valid",
            purpose="test",
            probes=probes,
            behaviours=known,
        )
        # One that differs on the last task alone is no twin.
        almost = {COUNTING.id: (*known[COUNTING.id][:-1], "something else")}
        third = await evaluator.evaluate(
            twin, "valid", purpose="test", probes=probes, behaviours=almost
        )
    assert second.done.same_as == COUNTING.id
    assert second.evaluation.rows == ()
    assert third.done.same_as == "" and third.evaluation.complete


async def test_an_episode_that_was_not_kept_is_played_again_alike(tmp_path):
    async with evaluating(tmp_path) as evaluator:
        done = await evaluator.evaluate(COUNTING, "train", purpose="test")
        kept = {t.case for t in evaluator.archive.traces(done.evaluation.id)}
        rows = {row.task_id: row for row in done.evaluation.rows}
        missing = [task for task in rows if Case(task) not in kept][:3]
        assert missing
        wanted = [missing[0], next(iter(kept)).task_id, *missing[1:]]
        traces = await evaluator.traces(COUNTING, "train", wanted)
        assert [t.case.task_id for t in traces] == wanted
        for trace in traces:
            row = rows[trace.case.task_id]
            assert (trace.episode.reward, len(trace.episode.steps)) == (row.reward, row.steps)
            assert advice_digest([a.text for a in trace.episode.advice]) == row.advice_digest
        assert {t.case for t in evaluator.archive.traces(done.evaluation.id)} == (
            kept | {Case(task) for task in missing}
        )


async def test_what_a_design_says_is_asked_without_playing_or_storing(tmp_path):
    said = []
    async with evaluating(tmp_path) as evaluator:
        tasks = [t.id for t in evaluator.plan("train").deployment[:3]]
        done = await evaluator.advice(COUNTING, tasks, (), {}, said.append)
        assert evaluator.archive.designs() == []
    assert [d.row.task_id for d in said] == tasks
    assert all(d.episode.advice and not d.episode.steps for d in said)
    updates = done.cpu.calls["update"]
    assert updates == len(evaluator.plan("train").collection)
    assert done.cpu.calls["retrieve"] == 1  # it reads nothing of the question: one answer for all
    assert 0 < done.cpu.most["update"] <= done.cpu.total["update"]


async def test_a_stop_by_the_clock_is_played_again_alone_and_then_counts(tmp_path):
    rules = Rules(collect=1)
    async with evaluating(tmp_path, rules=rules, limits={"wall": 0.5}) as evaluator:
        evaluator.plan("valid")
        evaluator._plans["valid"] = replace(
            evaluator.plan("valid"), deployment=evaluator.plan("valid").deployment[:2]
        )
        outcome = await evaluator.evaluate(SLEEPY, "valid", purpose="test")
    assert [row.reward for row in outcome.evaluation.rows] == [0.0, 0.0]
    assert all(row.failure.startswith("wall") for row in outcome.evaluation.rows)


@pytest.mark.parametrize("failing", ["load", "update", "retrieve"])
async def test_what_the_design_causes_is_scored_with_its_reason(tmp_path, failing):
    body = {"load": "", "update": "", "retrieve": ""} | {failing: "raise KeyError('lost')"}
    design = Design(
        "from metamem.designs import Memory\n\n\nclass F(Memory):\n    '''Fails.'''\n\n"
        f"    def __init__(self, tools):\n        {body['load'] or 'pass'}\n\n"
        f"    async def update(self, experience):\n        {body['update'] or 'pass'}\n\n"
        f"    async def retrieve(self, query):\n        {body['retrieve'] or 'pass'}\n"
    )
    async with evaluating(tmp_path) as evaluator:
        outcome = await evaluator.evaluate(design, "valid", purpose="test")
    assert outcome.evaluation.reward == 0.0
    assert "lost" in outcome.done.error
    assert all("lost" in row.failure for row in outcome.evaluation.rows)
