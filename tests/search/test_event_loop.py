"""Learning never makes the event loop wait for the archive."""

import asyncio
import traceback
from collections import Counter
from pathlib import Path

import pytest

import metamem
from metamem.core.progress import Silent
from metamem.evaluation.jobs import Spec
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
    begin = SqliteEngine._transaction

    def watched(self: SqliteEngine, how: str) -> object:
        seen["all"] += 1
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return begin(self, how)
        frames = [f for f in traceback.extract_stack() if "/store/" not in f.filename]
        seen[f"{frames[-2].filename}:{frames[-2].lineno}"] += 1
        return begin(self, how)

    monkeypatch.setattr(SqliteEngine, "_transaction", watched)
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


class StopAt(Silent):
    """Interrupts a run when it comes to a phase."""

    def __init__(self, name: str) -> None:
        self.name = name

    def phase(self, name: str, total: int = 0) -> None:
        if name == self.name:
            raise KeyboardInterrupt
