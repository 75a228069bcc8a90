"""Every attack works without the jail, and is stopped by each isolation."""

import json
import platform
import subprocess
import sys

import pytest

from metamem.core.errors import DesignFailure
from metamem.core.types import Design, Query
from metamem.designs.jailed import Jail
from tests.attacks.canaries import Canaries
from tests.attacks.snippets import ATTACKS
from tests.designs.embedder import LetterEmbedder

shared_loop = pytest.mark.asyncio(loop_scope="module")

# Machines differ in these: where one fails without the jail, there is nothing to show.
MAY_FAIL_ANYWHERE = {
    "change the root",
    "connect by tcp over ipv6",
    "enter the namespaces of a process",
    "make a user namespace",
    "mount",
    "open a packet socket",
    "open a raw socket",
    "speak as another kind of machine",
    "trace a process",
    "read the memory of a process",
    "use io_uring",
}
BY_X86_NUMBERS = {
    "speak as another kind of machine",
    "use bpf, perf, userfaultfd or keys",
}

DESIGN = """
from metamem.designs import Memory
{snippet}
import json
class Evil(Memory):
    async def retrieve(self, query):
        try:
            won = attack(json.loads(query.goal))
        except BaseException as error:
            return f"stopped: {{error!r}}"
        return f"won: {{won!r}}" if won else "stopped"
    async def update(self, experience):
        pass
"""


@pytest.fixture(params=sorted(ATTACKS))
def attack(request: pytest.FixtureRequest) -> str:
    if request.param in BY_X86_NUMBERS and platform.machine() != "x86_64":
        pytest.skip("this attack is written for x86_64")
    name: str = request.param
    return name


def test_it_works_without_the_jail(attack: str, canaries: Canaries) -> None:
    program = f"{ATTACKS[attack]}\nimport json\nwon = attack(json.loads(input()))\nprint('won' * bool(won))"
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        input=json.dumps(canaries.parameters()),
        env=canaries.environment,
        cwd=canaries.folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    canaries.harmed()  # makes all whole again
    if "won" not in ended.stdout and attack in MAY_FAIL_ANYWHERE:
        pytest.skip(f"does not work on this machine anyway: {ended.stderr[-200:]}")
    assert "won" in ended.stdout, ended.stderr


@shared_loop
async def test_the_jail_stops_it(attack: str, jail: Jail, canaries: Canaries) -> None:
    parameters = canaries.parameters()
    canaries.harmed()
    design = Design(DESIGN.format(snippet=ATTACKS[attack]))
    memory = await jail.open(design, seed=1, embedder=LetterEmbedder())
    try:
        outcome = await memory.retrieve(Query(goal=json.dumps(parameters)))
    except DesignFailure as failure:
        outcome = f"stopped: {failure}"
    finally:
        await memory.close()
    assert outcome.startswith("stopped")
    assert canaries.harmed() == []


@shared_loop
async def test_the_lesser_isolation_differs_only_in_showing_that_files_exist(
    jail: Jail, canaries: Canaries
) -> None:
    """Landlock guards what is in files, not whether they are there; bubblewrap hides both."""
    snippet = "import os\ndef attack(P):\n    return os.stat(P['secret']).st_size"
    memory = await jail.open(
        Design(DESIGN.format(snippet=snippet)), seed=1, embedder=LetterEmbedder()
    )
    outcome = await memory.retrieve(Query(goal=json.dumps(canaries.parameters())))
    await memory.close()
    assert outcome.startswith("won" if jail.isolation == "self" else "stopped")


@shared_loop
async def test_nothing_in_the_jail_is_writable(jail: Jail, canaries: Canaries) -> None:
    """Every folder that can be seen is tried, not just the likely ones."""
    snippet = """
import os
def attack(P):
    won = []
    for top in ("/", "/usr", "/etc", "/lib", P["package"], os.path.dirname(os.__file__)):
        for folder in [top, *(e.path for e in os.scandir(top) if e.is_dir())] if os.access(top, 4) else [top]:
            try:
                os.close(os.open(folder + "/metamem-attack", os.O_CREAT | os.O_WRONLY))
                won.append(folder)
            except OSError:
                pass
    return won
"""
    memory = await jail.open(
        Design(DESIGN.format(snippet=snippet)), seed=1, embedder=LetterEmbedder()
    )
    outcome = await memory.retrieve(Query(goal=json.dumps(canaries.parameters())))
    await memory.close()
    assert outcome.startswith("stopped")
