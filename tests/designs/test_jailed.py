"""A design in the jail, as the host sees it."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from metamem.core.errors import (
    AllowanceSpent,
    DesignFailure,
    ModelUnavailable,
    UsageError,
)
from metamem.core.protocols import CallSite
from metamem.core.types import Design, Experience, Message, Query, Step
from metamem.designs.jailed import Jail, JailedMemory
from metamem.designs.limits import Limits
from tests.designs.embedder import LetterEmbedder

pytestmark = pytest.mark.asyncio(loop_scope="module")

COUNTER = """
from metamem.designs import Memory
class Counter(Memory):
    def __init__(self, tools):
        super().__init__(tools)
        self.seen = []
    async def retrieve(self, query):
        return {"seen": list(self.seen), "luck": self.tools.rng.random()}
    async def update(self, experience):
        self.seen.append(experience.goal)
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["forks", "snapshots"])
async def jail(request: pytest.FixtureRequest) -> AsyncIterator[Jail]:
    """With real forks, and with what stands in for them where the kernel has none."""
    async with Jail(Limits(wall=20), forks=request.param == "forks") as started:
        assert started.sandbox.can_fork == (request.param == "forks")
        yield started


async def opened(jail: Jail, source: str, **more: Any) -> JailedMemory:
    return await jail.open(Design(source), **{"seed": 1, "embedder": LetterEmbedder(), **more})


def retrieving(body: str) -> str:
    """A design whose `retrieve` is one expression or a few lines."""
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    return (
        "from metamem.designs import *\nclass D(Memory):\n    async def retrieve(self, query):\n"
        f"{lines}\n    async def update(self, experience):\n        self.got = experience\n"
    )


async def test_it_learns_and_advises(jail: Jail) -> None:
    memory = await opened(jail, COUNTER)
    await memory.update(Experience(goal="one"))
    await memory.update_encoded(json.dumps(Experience(goal="two").to_json()).encode())
    assert (await memory.retrieve(Query("?")))["seen"] == ["one", "two"]
    await memory.close()


async def test_query_and_experience_arrive_whole(jail: Jail) -> None:
    source = retrieving("return repr((query, self.got))")
    memory = await opened(jail, source)
    step = Step("go north", "a hall — with “quotes” and \n lines", ("go south",), 0.5, True)
    query = Query("goal", "seen", ("a", "b"), (step,))
    experience = Experience("goal", "seen", ("a",), (step, step), 1.0, (Message("me", "hi", "t"),))
    await memory.update(experience)
    assert await memory.retrieve(query) == repr((query, experience))
    await memory.close()


async def test_a_fork_and_its_origin_never_see_each_other(jail: Jail) -> None:
    memory = await opened(jail, COUNTER)
    await memory.update(Experience(goal="shared"))
    first, second = await memory.fork(), await memory.fork()
    await first.update(Experience(goal="first"))
    await second.update(Experience(goal="second"))
    third = await first.fork()
    await third.update(Experience(goal="third"))
    seen = [(await m.retrieve(Query("")))["seen"] for m in (memory, first, second, third)]
    assert seen == [
        ["shared"],
        ["shared", "first"],
        ["shared", "second"],
        ["shared", "first", "third"],
    ]
    await memory.close()  # a fork outlives its origin
    assert (await third.retrieve(Query("")))["seen"] == ["shared", "first", "third"]
    for each in (first, second, third):
        await each.close()


async def test_forks_closed_at_once_do_the_origin_no_harm(jail: Jail) -> None:
    memory = await opened(jail, COUNTER)
    for _ in range(30):
        copy = await memory.fork()
        await copy.close()
    assert (await memory.retrieve(Query("")))["seen"] == []
    await memory.close()


async def test_forks_inherit_luck_unless_they_are_given_their_own(jail: Jail) -> None:
    memory = await opened(jail, COUNTER)
    draws = [(await (await memory.fork()).retrieve(Query("")))["luck"] for _ in range(2)]
    assert draws[0] == draws[1]
    other = (await (await memory.fork(seed=9)).retrieve(Query("")))["luck"]
    assert other != draws[0]
    await memory.close()


async def test_a_snapshot_carries_the_state_to_a_new_process(jail: Jail) -> None:
    memory = await opened(jail, COUNTER)
    await memory.update(Experience(goal="kept"))
    snapshot = await memory.snapshot()
    expected = await memory.retrieve(Query(""))
    await memory.close()
    restored = await opened(jail, COUNTER, snapshot=snapshot, seed=99)
    assert await restored.retrieve(Query("")) == expected  # its luck too
    await restored.close()
    with pytest.raises(UsageError, match="not a snapshot of this design"):
        await opened(jail, COUNTER + "\n", snapshot=snapshot)


async def test_a_state_that_cannot_be_saved_is_said_so(jail: Jail) -> None:
    source = retrieving("self.bad = lambda: 1\nreturn 'ok'")
    memory = await opened(jail, source)
    await memory.retrieve(Query(""))
    with pytest.raises(DesignFailure) as failure:
        await memory.snapshot()
    assert failure.value.kind == "snapshot"
    assert await memory.retrieve(Query("")) == "ok"  # it goes on; the caller may replay
    if jail.sandbox.can_fork:
        assert await (await memory.fork()).retrieve(Query("")) == "ok"  # forks need no pickle
    await memory.close()


async def test_the_same_design_and_seed_give_the_same_in_every_process(jail: Jail) -> None:
    source = retrieving(
        "import random, uuid, numpy, os, secrets\n"
        "words = {query.goal + str(n) for n in range(50)}\n"
        "return repr((list(words), random.random(), str(uuid.uuid4()), numpy.random.rand(), "
        "secrets.token_hex(4), numpy.random.default_rng().random(), "
        "hash('x'), os.urandom(4), self.tools.rng.random()))"
    )
    said = []
    for seed in (5, 5, 6):
        memory = await opened(jail, source, seed=seed)
        said.append(await memory.retrieve(Query("word")))
        await memory.close()
    assert said[0] == said[1] != said[2]


async def test_many_memories_at_once(jail: Jail) -> None:
    async def one(number: int) -> bool:
        memory = await opened(jail, COUNTER)
        await memory.update(Experience(goal=str(number)))
        copies = await asyncio.gather(memory.fork(), memory.fork())
        answers = await asyncio.gather(*(copy.retrieve(Query("")) for copy in copies))
        for each in (memory, *copies):
            await each.close()
        return all(answer["seen"] == [str(number)] for answer in answers)

    assert all(await asyncio.gather(*(one(number) for number in range(12))))


async def test_calls_of_one_memory_wait_for_each_other(jail: Jail) -> None:
    memory = await opened(jail, COUNTER)
    await asyncio.gather(*(memory.update(Experience(goal=str(n))) for n in range(20)))
    assert (await memory.retrieve(Query("")))["seen"] == [str(n) for n in range(20)]
    await memory.close()


async def test_the_model_answers_and_is_counted(jail: Jail) -> None:
    async def model(prompt: str, schema: dict[str, Any] | None, system: str) -> Any:
        await asyncio.sleep(0.05 / len(prompt))  # the last one asked is the first to answer
        return {"said": prompt, "schema": schema}

    source = retrieving(
        "import asyncio\n"
        "order = []\n"
        "async def ask(p):\n"
        "    reply = await self.tools.llm.ask(p, schema={'n': 1})\n"
        "    order.append(p)\n"
        "    return reply['said']\n"
        "said = await asyncio.gather(*(ask('x' * n) for n in (1, 2, 3)))\n"
        "return {'said': said, 'order': order}"
    )
    memory = await opened(jail, source, at=CallSite(model=model))
    answer = await memory.retrieve(Query(""))
    assert answer == {"said": ["x", "xx", "xxx"], "order": ["x", "xx", "xxx"]}
    assert (memory.model_calls, memory.tool_calls) == (3, 3)
    await memory.close()


async def test_model_calls_are_limited_in_each_call(jail: Jail) -> None:
    async def model(prompt: str, schema: object, system: str) -> str:
        return "x"

    source = retrieving(
        "for _ in range(int(query.goal)): await self.tools.llm.ask('x')\nreturn 'ok'"
    )
    memory = await opened(
        jail, source, at=CallSite(model=model), limits=replace(jail.limits, model_calls=3)
    )
    assert [await memory.retrieve(Query("3")) for _ in range(2)] == ["ok", "ok"]
    with pytest.raises(DesignFailure) as failure:
        await memory.retrieve(Query("4"))
    assert failure.value.kind == "limit" and memory.model_calls == 9


async def test_a_closed_memory_says_so(jail: Jail) -> None:
    memory = await opened(jail, COUNTER)
    await memory.close()
    with pytest.raises(UsageError, match="closed"):
        await memory.retrieve(Query(""))
    with pytest.raises(UsageError, match="one line"):
        await memory.update_encoded("{\n}")


async def test_without_a_model_the_design_is_told_and_may_go_on(jail: Jail) -> None:
    source = retrieving(
        "try:\n    return await self.tools.llm.ask('hi')\n"
        "except RuntimeError as error:\n    return f'told: {error}'"
    )
    memory = await opened(jail, source)
    assert await memory.retrieve(Query("")) == "told: no model is configured"
    assert memory.model_calls == 0
    await memory.close()

    async def away(prompt: str, schema: object, system: str) -> Any:
        raise ModelUnavailable("the model is away")

    memory = await opened(jail, source, at=CallSite(model=away))
    assert await memory.retrieve(Query("")) == "told: the model is away"
    await memory.close()


async def test_the_hosts_own_trouble_passes_through_unchanged(jail: Jail) -> None:
    async def broke(prompt: str, schema: object, system: str) -> Any:
        raise AllowanceSpent("no budget left")

    async def odd(prompt: str, schema: object, system: str) -> Any:
        return object()

    source = retrieving(
        "try:\n    return await self.tools.llm.ask('hi')\nexcept BaseException:\n    return 'hidden'"
    )
    memory = await opened(jail, source, at=CallSite(model=broke))
    with pytest.raises(AllowanceSpent):
        await memory.retrieve(Query(""))
    memory = await opened(jail, source, at=CallSite(model=odd))
    with pytest.raises(TypeError, match="not JSON serializable"):
        await memory.retrieve(Query(""))


async def test_texts_are_embedded_when_the_update_ends(jail: Jail) -> None:
    source = (
        "from metamem.designs import *\nclass D(Memory):\n"
        "    async def update(self, e):\n"
        "        for step in e.steps: await self.tools.vectors('s').add(step.action)\n"
        "    async def retrieve(self, q):\n"
        "        return [h.text for h in await self.tools.vectors('s').search(q.goal, k=1)][0]\n"
    )
    embedder = LetterEmbedder()
    memory = await opened(jail, source, embedder=embedder)
    await memory.update(Experience(steps=tuple(Step(a, "") for a in ("aa", "bb", "cc"))))
    assert memory.tool_calls == 1
    for _ in range(2):
        assert await (await memory.fork()).retrieve(Query("b")) == "bb"
    assert embedder.embedded == ["aa", "bb", "cc", "b", "b"]
    await memory.close()


async def test_what_a_design_prints_and_logs_is_kept(jail: Jail) -> None:
    source = retrieving(
        "import sys, logging\nprint('a', 'b')\nprint('no newline', end='')\n"
        "self.tools.log({'n': 1})\nlogging.warning('careful')\nreturn 'x'"
    )
    memory = await opened(jail, source)
    await memory.retrieve(Query(""))
    assert memory.logs[0] == "a b" and "{'n': 1}" in memory.logs
    assert "no newline" in "".join(memory.logs) and "careful" in "".join(memory.logs)
    await memory.close()


async def test_common_ways_of_writing_async_code_work(jail: Jail) -> None:
    source = retrieving(
        "import asyncio, time\n"
        "start = time.monotonic()\n"
        "await asyncio.sleep(3600)\n"  # time passes at once where nothing else can happen
        "one = await asyncio.to_thread(lambda: 1)\n"
        "two = await asyncio.wait_for(asyncio.sleep(1, 2), 5)\n"
        "async with asyncio.TaskGroup() as group:\n"
        "    three = group.create_task(asyncio.sleep(2, 3))\n"
        "return f'{one} {two} {three.result()} {time.monotonic() - start < 60}'"
    )
    memory = await opened(jail, source)
    assert await memory.retrieve(Query("")) == "1 2 3 True"
    await memory.close()


async def test_waiting_for_what_never_comes_is_an_error(jail: Jail) -> None:
    memory = await opened(jail, retrieving("import asyncio\nawait asyncio.Event().wait()"))
    with pytest.raises(DesignFailure, match="never happen"):
        await memory.retrieve(Query(""))
    await memory.close()


async def test_a_question_nobody_waited_for_does_no_harm(jail: Jail) -> None:
    source = retrieving(
        "import asyncio\nself.task = asyncio.create_task(self.tools.embed([query.goal]))\n"
        "await asyncio.sleep(0)\nreturn 'done'"
    )
    memory = await opened(jail, source)
    for number in range(3):
        assert await memory.retrieve(Query(f"x{number}")) == "done"
    await memory.close()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("class M(:\n  pass", r"SyntaxError: invalid syntax \(design.py, line 1\)"),
        ("import nothing_like_this", r"No module named 'nothing_like_this' \(line 1 of"),
        ("x = 1", "defines no subclass of metamem.designs.Memory"),
        (
            "from metamem.designs import Memory\nclass M(Memory):\n  async def update(self, e): ...",
            "M does not define retrieve",
        ),
        (COUNTER.replace("self.seen = []", "self.seen = 1 / 0"), r"ZeroDivisionError.*line 6 of"),
    ],
)
async def test_a_design_that_cannot_be_loaded_says_where(
    jail: Jail, source: str, message: str
) -> None:
    with pytest.raises(DesignFailure, match=message) as failure:
        await opened(jail, source)
    assert failure.value.kind == "crash"


async def test_of_several_memories_the_last_is_used(jail: Jail) -> None:
    source = (
        retrieving("return 'base'")
        + "class E(D):\n    async def retrieve(self, q): return 'last'\n"
    )
    memory = await opened(jail, source)
    assert await memory.retrieve(Query("")) == "last"
    await memory.close()


async def test_only_code_runs_in_the_jail(jail: Jail) -> None:
    with pytest.raises(UsageError):
        await jail.open(Design("{}", kind="params"), seed=1, embedder=LetterEmbedder())


async def test_a_cancelled_call_ends_its_process_and_no_other(jail: Jail) -> None:
    limits = replace(jail.limits, retrieve_cpu=30)
    memory = await opened(jail, retrieving("while True: pass"), limits=limits)
    other = await opened(jail, COUNTER)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(memory.retrieve(Query("")), 0.2)
    assert (await other.retrieve(Query("")))["seen"] == []
    await other.close()


async def test_copies_cut_short_at_any_moment_never_stall_the_fork_server(jail: Jail) -> None:
    """A process may die while its request to fork waits; the next memory must not notice."""
    for pause in range(30):
        memory = await opened(jail, COUNTER)
        copying = asyncio.create_task(memory.fork())
        await asyncio.sleep(pause / 5000)
        copying.cancel()
        await asyncio.wait([copying])
        await memory.close()
        if not copying.cancelled() and copying.exception() is None:
            await copying.result().close()
    async with asyncio.timeout(20):
        after = await opened(jail, COUNTER)
        copy = await after.fork()
        assert (await copy.retrieve(Query("anything")))["seen"] == []
        await copy.close()
        await after.close()


HIDDEN_NEED = """
import importlib
from metamem.designs import Memory
class Hidden(Memory):
    async def retrieve(self, query):
        array = importlib.import_module("num" + "py")
        return str(array.random.random())
    async def update(self, experience): pass
"""


async def test_a_library_that_was_not_loaded_beforehand_is_found_and_its_luck_repeats(
    jail: Jail,
) -> None:
    said = set()
    for _ in range(2):
        memory = await jail.open(Design(HIDDEN_NEED), seed=3, embedder=LetterEmbedder())
        said.add(await memory.retrieve(Query("x")))
    assert len(said) == 1


SLEEPER = """
from metamem.designs import Memory
class Sleeper(Memory):
    async def retrieve(self, query):
        while True: pass
    async def update(self, experience): pass
"""


async def test_a_call_under_way_ends_when_its_memory_is_closed(jail: Jail) -> None:
    memory = await jail.open(Design(SLEEPER), seed=1, embedder=LetterEmbedder())
    asked = asyncio.create_task(memory.retrieve(Query("x")))
    await asyncio.sleep(0.1)
    await memory.close()
    with pytest.raises(UsageError, match="closed"):
        await asyncio.wait_for(asked, 5)
