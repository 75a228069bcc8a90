"""The tool world: the same for the same seed, checked by effects, done by an agent without a model."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from bench.foundry.agent import Alone, Done, Listed, Work, work
from bench.foundry.arms import Foundry, repeated_failures, row, run_pair
from bench.foundry.chores import CHORES, WHO, Chore, Move
from bench.foundry.keeping import Kept, from_json, to_json
from bench.foundry.oneoffs import OPERATIONS
from bench.foundry.reading import Diary
from bench.foundry.seeds import Null, Planted, null, planted
from bench.foundry.tasks import Task, stream
from bench.foundry.transcripts import write_transcript
from bench.foundry.world import Tree, make_tree, project

from metamem.foundry.words import Trace
from metamem.service.importing.claude import Reader
from metamem.service.importing.lines import whole

SETTING = next(chore for chore in CHORES if chore.name == "setting")


async def _scripted(chore: Chore, tree: Tree, slots: Mapping[str, str], leave_out: int = -1) -> int:
    """Carry out a chore's script, all but one of its moves; how many moves there were."""
    script = chore.script(tree.project, slots)
    said, number = None, 0
    while True:
        try:
            move: Move = next(script) if said is None else script.send(said)
        except StopIteration:
            return number
        said = ""
        for command in (move.first, move.command) if number != leave_out else ():
            if command:
                done = await tree.run(command)
                said = done.stdout
        number += 1


def test_the_same_seed_and_number_give_the_same_tree(tmp_path: Path) -> None:
    async def commits() -> list[str]:
        made = [(3, 7, "a"), (3, 7, "b"), (3, 8, "c"), (4, 7, "d")]
        return [(await make_tree(project(s, n), tmp_path / name)).commit for s, n, name in made]

    first, again, other_task, other_seed = asyncio.run(commits())
    assert first == again
    assert len({first, other_task, other_seed}) == 3


@pytest.mark.parametrize("chore", CHORES, ids=lambda chore: chore.name)
def test_a_chore_is_done_by_its_script_and_not_by_less(chore: Chore, tmp_path: Path) -> None:
    async def outcomes() -> tuple[bool, bool, list[bool]]:
        given = project(5, 1)
        slots = chore.slots(given, Random(2))
        tree = await make_tree(given, tmp_path / "whole")
        before = chore.done(tree, slots)
        moves = await _scripted(chore, tree, slots)
        less = []
        for number in range(moves):
            broken = await make_tree(given, tmp_path / str(number))
            await _scripted(chore, broken, slots, leave_out=number)
            less.append(chore.done(broken, slots))
        return before, chore.done(tree, slots), less

    before, after, less = asyncio.run(outcomes())
    assert not before and after
    # Without its tests a chore is as good as with them: nothing else may be left out.
    untested = [n for n, done in enumerate(less) if done]
    assert len(untested) == (1 if chore.name in ("module", "rename") else 0)


@pytest.mark.parametrize("chore", CHORES, ids=lambda chore: chore.name)
def test_what_is_said_to_fail_fails(chore: Chore, tmp_path: Path) -> None:
    async def codes() -> list[int]:
        given = project(6, 2)
        slots = chore.slots(given, Random(1))
        tree, found = await make_tree(given, tmp_path / "tree"), []
        script = chore.script(given, slots)
        move = next(script)
        while True:
            for failing in move.failing:
                found.append((await tree.run(failing)).exit_code)
            if move.first:
                await tree.run(move.first)
            try:
                move = script.send((await tree.run(move.command)).stdout)
            except StopIteration:
                assert chore.done(tree, slots)  # to have failed before spoils nothing
                return found

    found = asyncio.run(codes())
    assert found and all(found)


def test_no_passage_between_operations_comes_twice() -> None:
    names = {operation.command.split("{a}")[0]: n for n, operation in enumerate(OPERATIONS)}
    assert len(names) >= 40
    for seed in range(5):
        passages = []
        for task in stream(seed, 300, 0.0):
            assert task.chain is not None
            words = [part.split(" notes/")[0] for part in task.goal.split(", then ")]
            passages += list(pairwise(words))
        assert len(passages) > 600
        assert len(passages) == len(set(passages))


def test_tasks_that_come_once_are_done_by_their_commands(tmp_path: Path) -> None:
    async def outcomes() -> list[tuple[bool, bool]]:
        found = []
        for task in stream(11, 25, 0.0):
            tree = await make_tree(task.project, tmp_path / str(task.number))
            before = task.done(tree)
            found.append((before, (await work(task, tree, Alone(), Diary())).done.success))
        return found

    assert set(asyncio.run(outcomes())) == {(False, True)}


def test_a_share_of_the_tasks_are_chores() -> None:
    for share in (0.0, 0.25, 0.5, 0.75):
        tasks = stream(1, 80, share)
        assert sum(task.chore is not None for task in tasks) == round(80 * share)
        assert tasks == stream(1, 80, share)


def _one_chore(tmp_path: Path, number: int = 0) -> tuple[Task, Work]:
    async def done() -> tuple[Task, Work]:
        task = stream(2, 8, 1.0)[number]
        tree = await make_tree(task.project, tmp_path / "tree")
        return task, await work(task, tree, Alone(), Diary())

    return asyncio.run(done())


def test_the_transcript_is_read_by_the_importer(tmp_path: Path) -> None:
    task, done = _one_chore(tmp_path)
    path = write_transcript(done.trace, tmp_path / "projects")
    reader, tail = Reader(), whole(path)
    for record in tail.records():
        reader.feed(record)
    read = reader.thread.taken(tail.damaged)
    assert read.damaged == 0
    assert read.session == done.trace.session
    assert done.trace.snapshot is not None and read.folder == done.trace.snapshot.folder
    assert [line.text for line in read.lines] == [task.goal]
    assert [(c.id, c.tool, c.arguments, c.result, c.failed) for c in read.calls] == [
        (u.id, u.tool, u.arguments, u.result, u.failed) for u in done.trace.uses
    ]


class StandIn:
    """Knows one chore from the beginning, and one remedy after it was needed once."""

    def __init__(self) -> None:
        self._seen = 0
        self._spoilt = False
        self._failed = 0
        self._keys: list[str] = []
        self._values: list[str] = []

    def mined(self) -> int:
        return int(self._seen >= 3)

    def deployed(self) -> Sequence[str]:
        return ("add_setting",) if self._seen >= 3 and self._failed < 3 else ()

    def listing(self) -> Sequence[Listed]:
        examples = {"key": tuple(self._keys), "value": tuple(self._values)}
        told = "Add the setting with the default"
        return [Listed(n, told, examples, f"{n}: {told}") for n in self.deployed()]

    async def call(self, name: str, values: Mapping[str, Any], tree: Tree) -> tuple[int, str]:
        if self._spoilt:
            self._failed += 1
            return 1, "spoilt"
        key, value, package = values["key"], values["value"], tree.project.package
        done = await tree.run(
            f"""set -e; echo '{key} = {value}' >> settings.ini
            sed -i '/^DEFAULTS/a \\    "{key}": "{value}",' {package}/config.py
            echo '- {key}: {value} by default' >> docs/settings.md
            {WHO} commit -qam 'Setting {key}'"""
        )
        return done.exit_code, done.stdout + done.stderr

    def at_start(self, task: Task) -> str:
        return ""

    def before_retry(self, trace: Trace) -> str:
        return f"it helped to use {WHO} commit" if self._seen else ""

    async def observe(self, trace: Trace) -> None:
        for use in trace.uses:
            command = str(use.arguments.get("command", ""))
            if command.endswith(">> settings.ini"):
                key, value = command.split("'")[1].split(" = ")
                self._keys.append(key)
                self._values.append(value)
                self._seen += 1

    def spoil(self, name: str) -> None:
        self._spoilt = True

    def close(self) -> None:
        pass


def _stand_in(folder: Path) -> Foundry:
    return StandIn()


def test_a_tool_saves_calls_at_equal_success(tmp_path: Path) -> None:
    pair = asyncio.run(run_pair(_stand_in, 3, 14, 0.5, tmp_path, (SETTING,)))
    chores = [task.chore is not None for task in stream(3, 14, 0.5, (SETTING,))]
    assert all(w.success for w in (*pair.off, *pair.on))
    assert pair.deployed == ("add_setting",)
    used = [bool(w.tool) for w in pair.on]
    assert sum(used) == 4 and all(chore for chore, tool in zip(chores, used, strict=True) if tool)
    for off, on, chore in zip(pair.off, pair.on, chores, strict=True):
        assert on.calls == 1 if on.tool else on.calls <= off.calls
        assert (
            chore or on.told["steps"] == off.told["steps"]
        )  # the others are done alike in both arms
    table = row(0.5, [pair])
    assert -table.calls.relative == pytest.approx(pair.fewer_calls()) and pair.fewer_calls() > 0.1
    assert table.calls.low < table.calls.relative < table.calls.high < 0
    assert table.on.tokens == pytest.approx(sum(table.read[1].values()))
    assert table.on.repeated < table.off.repeated
    assert repeated_failures(pair.on) <= repeated_failures(pair.off)


def test_a_tool_that_fails_costs_calls_and_no_success(tmp_path: Path) -> None:
    foundry = StandIn()

    async def works() -> list[Done]:
        found, diary = [], Diary()
        for task in stream(4, 5, 1.0, (SETTING,)):
            tree = await make_tree(task.project, tmp_path / str(task.number))
            one = await work(task, tree, foundry, diary)
            found.append(one.done)
            await foundry.observe(one.trace)
            foundry.spoil("add_setting")
        return found

    found = asyncio.run(works())
    assert [w.tool_failed for w in found] == [False, False, False, True, True]
    assert all(w.success for w in found)


class Blind(StandIn):
    """Never looks whether a tool still works."""

    def deployed(self) -> Sequence[str]:
        return ("add_setting",) if self._seen >= 3 else ()


def test_a_planted_chore_is_used_and_its_spoilt_tool_is_seen_to_go(tmp_path: Path) -> None:
    found = asyncio.run(planted(_stand_in, 4, 8, SETTING, tmp_path / "a"))
    assert (found.used, found.failures, found.disabled, found.good) == (True, 3, True, True)
    blind = asyncio.run(planted(lambda folder: Blind(), 4, 8, SETTING, tmp_path / "b"))
    assert (blind.used, blind.disabled, blind.good) == (True, False, False)
    other = next(chore for chore in CHORES if chore.name == "size")
    missed = asyncio.run(planted(_stand_in, 4, 8, other, tmp_path / "c"))
    assert missed == Planted("size")


def test_what_comes_of_a_null_world_is_told(tmp_path: Path) -> None:
    assert asyncio.run(null(_stand_in, 4, 6, tmp_path)) == Null(0, 0)
    assert not Null(1, 0).good and not Null(0, 1).good


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    pair = asyncio.run(run_pair(_stand_in, 3, 4, 0.5, tmp_path / "trees", (SETTING,)))
    file = tmp_path / "deep" / "kept"
    Kept(file).put("a", to_json(pair))
    Kept(file).put("b", {"x": 1})
    again = Kept(file)
    assert from_json(again.get("a")) == pair
    assert again.get("b") == {"x": 1} and again.get("c") is None
