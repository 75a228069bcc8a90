"""Proposers and agents of other packages declare what they need, and get it in a real run."""

from pathlib import Path
from typing import Any

import pytest

import metamem
from metamem.api import LearnResult, forecast_learning, open_home
from metamem.core.errors import ModelUnavailable, UsageError
from metamem.core.needs import NOTHING, Needs, needs_of
from metamem.core.progress import Silent
from metamem.evaluation.jobs import Spec
from metamem.evaluation.rules import Rules
from metamem.runs.supply import make_proposer
from tests.cli.conftest import program
from tests.runs.plugged import Scribe

SCRIBE = Spec("tests.runs.plugged:Scribe")
WAITING = Spec("tests.runs.plugged:Waiting")
CHOOSER = Spec("tests.runs.plugged:Chooser")
DEMO = "scripted:demo"
SMALL: dict[str, Any] = {
    "executor": Spec("inline"),
    "designs": 2,
    "batch": 1,
    "control": False,
    "explain": False,
    "confirm": 1,
    "confirm_seeds": 0,
    "shortlist": 1,
    "final_repeats": 1,
}


class Heard(Silent):
    def __init__(self) -> None:
        self.waits: list[bool] = []

    def waiting(self, yes: bool) -> None:
        self.waits.append(yes)


def spent(result: LearnResult) -> dict[str, int]:
    return {row.role: row.answered for row in result.summary.models}


def test_a_proposer_that_declares_a_model_gets_it(tmp_path: Path) -> None:
    Scribe.made.clear()
    settings = {**SMALL, "proposer": Spec(SCRIBE.name, {"please": "Please! "})}
    result = metamem.learn("toy", home=tmp_path, models={"meta": DEMO}, **settings)
    (context,) = Scribe.made
    assert context.window == 32_000 and context.folder is None
    assert spent(result) == {"meta": 2}
    with open_home(tmp_path) as archive:
        made = [p for p in archive.proposals(result.run_id) if p.operator == "scribe"]
        sources = [archive.design(p.design_id or "").source for p in made]
    assert [p.proposer for p in made] == [SCRIBE.name] * 2
    assert all(p.note.startswith("Please! ") and p.evidence["cost"] > 0 for p in made)
    assert all("class Rewarded" in source for source in sources)


def test_it_is_refused_early_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"the proposer .*:Scribe needs") as refused:
        metamem.learn("toy", home=tmp_path, proposer=SCRIBE, **SMALL)
    assert "give --model meta=NAME" in refused.value.hint
    with open_home(tmp_path) as archive:
        assert not archive.runs()  # before anything was entered
    with pytest.raises(ModelUnavailable, match="the proposer llm needs a model") as built_in:
        metamem.learn("toy", home=tmp_path, proposer=Spec("llm"), **SMALL)
    assert built_in.value.hint == refused.value.hint


def test_on_the_command_line_it_is_told_what_a_plug_in_will_cost_and_lacks(tmp_path: Path) -> None:
    common = ("learn", "toy", "--proposer", SCRIBE.name, "--designs", "2", "--home", tmp_path / "h")
    said = program(*common)
    assert said.returncode == 1 and "Traceback" not in said.stderr
    assert f"the proposer {SCRIBE.name} needs a model" in said.stderr
    assert "--model meta=" in said.stderr
    costs = program(*common, "--model", "meta=openai:m@http://127.0.0.1:9/v1")
    assert costs.returncode == 2 and "say --yes" in costs.stderr
    assert "about 8 calls" in costs.stderr


def test_a_forecast_counts_whoever_declares_a_model() -> None:
    def calls(models: dict[str, str], **who: Spec) -> int:
        return forecast_learning("toy", models=models, designs=2, **who).calls

    meta, agent = {"meta": DEMO}, {"agent": DEMO}
    assert calls(meta, proposer=SCRIBE) == calls(meta, proposer=Spec("llm")) > 0
    assert calls(agent, agent=CHOOSER) == calls(agent, agent=Spec("llm")) > 0
    assert calls(meta, proposer=WAITING) == calls(agent, agent=Spec("reader")) == 0


def test_an_agent_that_declares_a_model_gets_it_and_counts_as_another_with_another(
    tmp_path: Path,
) -> None:
    with pytest.raises(ModelUnavailable, match=r"the agent .*:Chooser needs") as refused:
        metamem.evaluate("no_memory", "toy", home=tmp_path, agent=CHOOSER)
    assert "give --model agent=NAME" in refused.value.hint
    (played,) = metamem.evaluate(
        "no_memory", "toy", home=tmp_path, agent=CHOOSER, models={"agent": DEMO}, rules=Rules(max_steps=1),
        executor=Spec("inline"),
    )  # fmt: skip
    with open_home(tmp_path) as archive:
        assert sum(row.answered for row in archive.spending()) > 0
    assert played.fingerprint.agent == f"chooser-1 with {DEMO}, 32000 tokens"


def test_one_that_waits_for_somebody_has_a_folder_free_duplicates_and_no_clock(
    tmp_path: Path,
) -> None:
    heard = Heard()
    settings = {**SMALL, "designs": 1, "proposer": WAITING, "progress": heard}
    result = metamem.learn("toy", home=tmp_path, run="mine", **settings)
    # The first copy is free, the second spends the budget's one design.
    assert result.summary.search is not None
    assert result.summary.search.duplicate == 2
    assert len(list((tmp_path / "handoff" / "mine").iterdir())) == len(heard.waits) // 2 > 0
    assert heard.waits == [True, False] * (len(heard.waits) // 2)


def test_a_proposer_is_not_made_without_what_it_needs_or_a_place_for_it() -> None:
    with pytest.raises(UsageError, match="needs a folder"):
        make_proposer(WAITING, None, None, lambda waiting: None)
    with pytest.raises(UsageError, match="takes no `context`"):
        make_proposer(Spec("tests.runs.plugged:Closed"), None, None, lambda waiting: None)


def test_what_is_declared_is_looked_at() -> None:
    assert needs_of("proposers", "recombine") == NOTHING == Needs()
    assert needs_of("agents", CHOOSER.name) == Needs(model="agent")
    with pytest.raises(UsageError, match="role 'meta', which agents are not given"):
        needs_of("agents", "tests.runs.plugged:Greedy")
    with pytest.raises(UsageError, match="no Needs"):
        needs_of("proposers", "tests.runs.plugged:Vague")
    with pytest.raises(UsageError, match="what agents are not given"):
        needs_of("agents", WAITING.name)
