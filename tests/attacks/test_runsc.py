"""The attacks again, on a memory under gVisor. A sandbox is slow to start: many share one."""

import json
import platform
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy
import pytest
import pytest_asyncio

import metamem
from metamem.core.errors import DesignFailure
from metamem.core.types import Design, Query
from metamem.designs.jailed import Jail, JailedMemory
from metamem.sandbox import gvisor
from tests.attacks.canaries import Canaries
from tests.attacks.conftest import LIMITS
from tests.attacks.misdeeds import MISDEEDS
from tests.attacks.snippets import ATTACKS
from tests.attacks.test_attacks import BY_X86_NUMBERS
from tests.attacks.test_misdeeds import bad_design
from tests.designs.embedder import LetterEmbedder

pytestmark = [
    pytest.mark.skipif(not gvisor.works(), reason="the isolation runsc does not work here"),
    pytest.mark.asyncio(loop_scope="module"),
]

# gVisor has a /dev of its own, with nothing of the machine's in it.
HARMLESS_HERE = {"open devices"}
# One of each sort: every one of them costs a sandbox.
TOLD_MISDEEDS = (
    "loops with every signal ignored",
    "sleeps",
    "takes memory bit by bit",
    "ends its process",
    "reads address zero",
    "floods the channel",
    "answers another question",
)

DESIGN = """
from metamem.designs import Memory
import json
class Evil(Memory):
    async def retrieve(self, query):
        task = json.loads(query.goal)
        names = {}
        exec(task["snippet"], names)
        try:
            won = names["attack"](task["parameters"])
        except BaseException as error:
            return f"stopped: {error!r}"
        return f"won: {won!r}" if won else "stopped"
    async def update(self, experience):
        pass
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gvisor_jail(
    canaries: Canaries,
) -> AsyncIterator[Jail]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("METAMEM_CANARY", canaries.token)
        async with Jail(replace(LIMITS, wall=30), isolation="runsc") as jail:
            yield jail


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def evil(gvisor_jail: Jail) -> JailedMemory:
    return await gvisor_jail.open(Design(DESIGN), seed=1, embedder=LetterEmbedder())


@pytest.mark.parametrize("name", sorted(ATTACKS.keys() - HARMLESS_HERE))
async def test_gvisor_stops_it(name: str, evil: JailedMemory, canaries: Canaries) -> None:
    if name in BY_X86_NUMBERS and platform.machine() != "x86_64":
        pytest.skip("this attack is written for x86_64")
    parameters = canaries.parameters()
    canaries.harmed()
    task = {"snippet": ATTACKS[name], "parameters": parameters}
    outcome = await evil.retrieve(Query(goal=json.dumps(task)))
    assert outcome.startswith("stopped")
    assert canaries.harmed() == []


async def test_nothing_of_the_machine_is_seen(evil: JailedMemory, canaries: Canaries) -> None:
    snippet = """
import os
def attack(P):
    assert os.uname().nodename == "jail"
    return [p for p in (P["secret"], P["folder"], "/home", "/etc/passwd", "/dev/kvm", "/dev/vda")
            if os.path.exists(p)] + [p for f in FOLDERS for p in os.listdir(f)]
"""
    # A checkout or libraries below /tmp are shown there, with the folders that lead to them.
    shown = [Path(module.__file__) for module in (metamem, numpy)]
    empty = [f for f in ("/proc", "/sys", "/tmp") if not any(p.is_relative_to(f) for p in shown)]
    snippet = f"FOLDERS = {empty}\n{snippet}"
    task = {"snippet": snippet, "parameters": canaries.parameters()}
    assert await evil.retrieve(Query(goal=json.dumps(task))) == "stopped"


@pytest.mark.parametrize("name", TOLD_MISDEEDS)
async def test_it_is_the_designs_failure_under_gvisor(name: str, gvisor_jail: Jail) -> None:
    misdeed = MISDEEDS[name]
    limits = replace(gvisor_jail.limits, wall=2 if misdeed.kind == "wall" else 30)
    memory = await gvisor_jail.open(
        bad_design(misdeed.body), seed=1, embedder=LetterEmbedder(), limits=limits
    )
    with pytest.raises(DesignFailure) as failure:
        await memory.retrieve(Query("be bad"))
    assert failure.value.kind == misdeed.kind
    await memory.close()
