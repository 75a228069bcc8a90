"""Learning never makes the event loop wait for the archive."""

import asyncio
import traceback
from collections import Counter
from pathlib import Path

import pytest

import metamem
from metamem.core.progress import Silent
from metamem.core.types import Design
from metamem.evaluation.jobs import Spec
from metamem.runs.desk.desk import Desk
from metamem.search.handoff.place import WorkFolder, run_folder
from metamem.search.handoff.proposer import Handoff
from metamem.search.proposer import ParentView, ProposerContext, Request
from metamem.store.archive import Archive
from metamem.store.sqlite import SqliteEngine

SMALL = {
    "designs": 2,
    "batch": 2,
    "confirm": 1,
    "confirm_seeds": 1,
    "shortlist": 1,
    "final_repeats": 1,
}


@pytest.fixture
def transactions(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many there were, and from where those came that were made inside an event loop."""
    seen: Counter[str] = Counter()

    def watch(name: str) -> None:
        begin = getattr(SqliteEngine, name)

        def watched(self: SqliteEngine, **how: bool) -> object:
            seen["all"] += 1
            try:
                asyncio.get_running_loop()
            except RuntimeError:
                return begin(self, **how)
            frames = [f for f in traceback.extract_stack() if "/store/" not in f.filename]
            seen[f"{frames[-2].filename}:{frames[-2].lineno}"] += 1
            return begin(self, **how)

        monkeypatch.setattr(SqliteEngine, name, watched)

    watch("reading")
    watch("writing")
    return seen


def test_a_run_and_its_resumption(transactions: Counter[str], tmp_path: Path) -> None:
    settings = {"home": tmp_path, "run": "r", "executor": Spec("inline"), **SMALL}
    metamem.learn("toy", **settings)
    assert transactions.pop("all") > 50
    assert not transactions
    with pytest.raises(KeyboardInterrupt):
        metamem.learn("toy", **{**settings, "run": "s", "seed": 1}, progress=StopAt("confirming"))
    metamem.learn("toy", run="s", home=tmp_path, executor=Spec("inline"))
    transactions.pop("all")
    assert not transactions


def test_a_run_with_models_and_workers(transactions: Counter[str], tmp_path: Path) -> None:
    metamem.learn(
        "toy",
        home=tmp_path,
        run="r",
        executor=Spec("local", {"workers": 1}),
        proposer=Spec("llm"),
        models={"meta": "scripted:demo"},
        control=False,
        **SMALL,
    )
    assert transactions.pop("all") > 50
    assert not transactions


def test_the_desk_of_a_run(transactions: Counter[str], tmp_path: Path) -> None:
    """Drafts are checked and handed in beside the run, on a loop of their own."""
    metamem.learn("toy", home=tmp_path, run="r", executor=Spec("inline"), control=False, **SMALL)
    with metamem.api.open_home(tmp_path) as archive:
        parent = archive.design(archive.proposals("r")[0].design_id or "")
        transactions.clear()
        asyncio.run(hand_in(archive, tmp_path, parent))
    assert transactions.pop("all") > 20
    assert not transactions


async def hand_in(archive: Archive, home: Path, parent: Design) -> None:
    desk = Desk(archive, WorkFolder(run_folder(home, "r")), "r")
    proposer = Handoff(ProposerContext(folder=desk.place.root))
    request = Request([ParentView(parent, 0.5)], seed=1, domain_description="Doors.")
    asking = asyncio.create_task(proposer.propose(request))
    await asyncio.sleep(0)  # it asks at once, and then waits
    number = (await desk.next(0))["number"]
    found = await desk.check(number, DRAFT, score_on=2)
    assert found["passed"] and found["score"] is not None
    await desk.submit(number, DRAFT, "", 0)
    assert (await asking).design == Design(DRAFT)
    assert (await desk.next(0))["number"] is None


DRAFT = '''
from metamem.designs import Memory


class Draft(Memory):
    """Counts."""

    seen = 0

    async def update(self, experience):
        self.seen += 1

    async def retrieve(self, query):
        return f"seen {self.seen}"
'''


class StopAt(Silent):
    """Interrupts a run when it comes to a phase."""

    def __init__(self, name: str) -> None:
        self.name = name

    def phase(self, name: str, total: int = 0) -> None:
        if name == self.name:
            raise KeyboardInterrupt
