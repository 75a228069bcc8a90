"""What is served is what was evaluated: the same advice, whoever asks, and however it is opened."""

import asyncio
import zlib
from pathlib import Path

import pytest

import metamem
from metamem.core.errors import UsageError
from metamem.core.ids import canonical_json, derive_seed
from metamem.core.protocols import CallSite
from metamem.core.types import Case, Design, Episode, Experience, Query, Step
from metamem.designs import library
from metamem.designs.jailed import Jail
from metamem.domains.toy import ToyDomain
from metamem.evaluation.inline import InlineExecutor
from metamem.evaluation.jobs import CaseDone, Job, Setup, Spec
from metamem.evaluation.rules import Rules
from metamem.hosting.opening import open_unkept
from metamem.models.hashed_embedder import HashedEmbedder
from tests.hosting.designs import BESIDE, COUNTING, LUCKY, least_told

DESIGNS = {
    "counting": COUNTING,
    "least told": least_told(),
    "lucky": LUCKY,
    "beside": BESIDE,
    "human": library.load("success_retrieval"),
}
SETUP = Setup(Spec("toy"), Spec("random"), Spec("auto"), Rules(ask_every=2))
SEED = derive_seed("design", SETUP.seed)
CASES = tuple(Case(f"valid-{n:03d}", 0) for n in range(6))


def lived() -> list[Experience]:
    domain = ToyDomain()
    found = []
    for task in domain.tasks("train")[:12]:
        actions = [line[3:] for line in domain.oracle(task).splitlines()]
        steps = tuple(Step(action, "", (), 1.0, True) for action in actions)
        found.append(Experience(task.goal, "", (), steps, 1.0))
    return found


def log_of(experiences: list[Experience]) -> str:
    return "".join(canonical_json(e.to_json()) + "\n" for e in experiences)


async def evaluated(design: Design) -> list[Episode]:
    blob = zlib.compress(log_of(lived()).encode())
    executor = InlineExecutor(lambda key: blob)
    done: list[CaseDone] = []
    job = Job("job", SETUP, "valid", CASES, design=design, experiences="all", keep_all=True)
    try:
        ended = await executor.run(job, done.append)
    finally:
        await executor.close()
    assert not ended.error
    return [case.episode for case in done if case.episode is not None]


def questions(episodes: list[Episode]) -> list[tuple[tuple, str]]:
    """What the agent asked in its episodes, and what it was told."""
    asked = []
    for episode in episodes:
        for number, advice in enumerate(episode.advice):
            steps = episode.steps[: number * SETUP.rules.ask_every]
            seen = steps[-1] if steps else episode
            asked.append(((episode.goal, seen.observation, seen.actions, steps), advice.text))
    return asked


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.filterwarnings("ignore:no snapshot was kept:UserWarning")
async def test_evaluated_served_reopened_and_crowded_say_the_same(
    name: str, tmp_path: Path
) -> None:
    design = DESIGNS[name]
    asked = questions(await evaluated(design))
    assert len(asked) > len(CASES)  # it is asked several times in an episode
    folder = tmp_path / "memory"
    first, rest = lived()[:7], lived()[7:]
    async with metamem.open_memory_async(design, folder, seed=SEED) as memory:
        for experience in first:
            await memory.update(experience)
            await memory.retrieve(experience.goal)  # must leave no trace
    async with metamem.open_memory_async(design, folder, seed=SEED) as memory:
        for experience in rest:
            await memory.retrieve(experience.goal)
            await memory.update(experience)
        served = [await memory.retrieve(*query) for query, _ in asked]
    async with metamem.open_memory_async(design, folder, seed=SEED) as memory:
        assert memory.replayed == (12 if name == "beside" else 0)
        reopened = [await memory.retrieve(*query) for query, _ in asked]
        crowd = await asyncio.gather(*(memory.retrieve(*query) for query, _ in asked * 3))
    told = [advice for _, advice in asked]
    assert served == told
    assert reopened == told
    assert crowd == told * 3
    assert any(told)


async def test_a_streaming_memory_keeps_what_retrievals_leave(tmp_path: Path) -> None:
    async def told(rollout: str) -> list[str]:
        folder = tmp_path / "memory"
        async with metamem.open_memory_async(COUNTING, folder, rollout=rollout) as memory:
            return [(await memory.retrieve("x")).partition(",")[0] for _ in range(3)]

    assert await told("streaming") == ["asked 1", "asked 2", "asked 3"]
    assert await told("frozen") == ["asked 1"] * 3
    assert await told("streaming") == ["asked 4", "asked 5", "asked 6"]
    with pytest.raises(UsageError, match="rollout"):
        await told("thawed")


async def test_updates_of_many_callers_are_serial_and_seen_by_who_asks_afterwards(
    tmp_path: Path,
) -> None:
    async with metamem.open_memory_async(COUNTING, tmp_path) as memory:

        async def caller(number: int) -> None:
            for turn in range(5):
                await memory.update(Experience(goal=f"{number} {turn}"))
                seen = await memory.retrieve("x")
                assert int(seen.split("seen ")[1].split(":")[0]) >= turn + 1

        await asyncio.gather(*(caller(number) for number in range(8)))
        last = await memory.retrieve("x")
    assert "seen 40" in last
    async with metamem.open_memory_async(COUNTING, tmp_path) as memory:
        assert await memory.retrieve("x") == last


async def test_a_copy_made_beforehand_is_never_of_an_older_state(tmp_path: Path) -> None:
    async with metamem.open_memory_async(COUNTING) as memory:
        for number in range(1, 6):
            await memory.update(Experience(goal=str(number)))
            told = {await memory.retrieve("x") for _ in range(4)}  # the second makes one beforehand
            assert told == {f"asked 1, seen {number}: ['{number}']"}


async def test_a_consultation_of_a_streaming_memory_sees_what_is_there_now() -> None:
    async with Jail() as jail:
        memory = await open_unkept(
            jail, COUNTING, seed=0, embedder=HashedEmbedder(), rollout="streaming"
        )
        query, at = Query("x"), CallSite()
        for asked in range(1, 4):
            told = [await memory.consult(query, at) for _ in range(3)]
            assert [line.partition(",")[0] for line in told] == [f"asked {asked}"] * 3
            await memory.retrieve(query, at)


async def test_whoever_stops_waiting_ends_neither_memory_nor_update(tmp_path: Path) -> None:
    async with metamem.open_memory_async(COUNTING, tmp_path) as memory:
        for pause in range(25):
            calls = [
                asyncio.create_task(memory.retrieve("x")),
                asyncio.create_task(memory.update(Experience(goal=str(pause)))),
            ]
            await asyncio.sleep(pause / 4000)
            for call in calls:
                call.cancel()
            await asyncio.wait(calls)
        await memory.update(Experience(goal="last"))
        told = await memory.retrieve("x")
    assert "'last'" in told
    lines = (tmp_path / "experiences.jsonl").read_text().splitlines()
    assert f"seen {len(lines)}" in told


def test_a_blocking_memory_opens_inside_a_running_loop(tmp_path: Path) -> None:
    async def main() -> str:
        with metamem.open_memory(COUNTING, tmp_path) as memory:
            return memory.retrieve("x")

    assert "asked 1" in asyncio.run(main())
