"""What is kept of a run comes back as it went in, whichever version kept it."""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.core.calls import Spending
from metamem.core.errors import DataError
from metamem.core.types import CaseResult, Evaluation, Fingerprint
from metamem.evaluation.statistics import HolmComparison
from metamem.promotion.gate import Decision, GateComparison
from metamem.report.page import render_report
from metamem.runs.explanation import Explanation, Worth
from metamem.runs.summary import VERSION, SearchCounts, Summary
from metamem.runs.table import TableRow, table
from metamem.store import SqliteArchive
from tests.store.packed import unpack_archive

# As the first version that learned anything kept it: no version, no models, no explanation.
GATE = {"design": "d1", "mean": 0.7, "gain": -0.1, "se": 0.03, "lower_bound": -0.2, "p": 1.0,
        "passed": False}  # fmt: skip
COMPARED = {"confidence": 0.95, "effect_size": None, "gain": 0.3, "high": 0.5, "low": 0.1,
            "mean_a": 0.5, "mean_b": 0.2, "n": 40, "note": "", "p_holm": 0.006,
            "p_permutation": 0.003, "p_t": 0.002, "permutation_method": "exact",
            "power_hint": "enough", "se": 0.09, "superiority": 0.65}  # fmt: skip
ROW = {"name": "no_memory", "design": "d0", "evaluation": "e0", "human": True, "tasks": 40,
       "mean": 0.2, "low": 0.1, "high": 0.3, "tokens": 0.0, "seconds": 0.02, "retrieve_ms": 3.2,
       "failures": 0, "comparison": COMPARED}  # fmt: skip
LEARNED = {name: value for name, value in ROW.items() if name != "comparison"} | {
    "name": "learned", "design": "d1", "evaluation": "e1", "human": False, "mean": 0.5,
}  # fmt: skip
OLD = {
    "seconds": 24.2,
    "learned": "d1",
    "promoted": False,
    "decision": {
        "promoted": None, "lower_bound": -0.2, "level": 0.01, "level_each": 0.01, "tasks": 40,
        "best_human": "success_retrieval", "best_human_mean": 0.8, "comparisons": [GATE],
        "reason": "not promoted: no candidate is proven to beat it",
    },
    "control": None,
    "search": {"proposed": 6, "accepted": 5, "duplicate": 1, "rejected": 0, "improved": 2,
               "warnings": ["a warning"]},
    "tables": {"shift": [ROW], "test": [ROW, LEARNED]},
}  # fmt: skip
SPENT = {"run_id": "", "role": "agent", "model": "m", "design_id": "", "attempts": 3, "answered": 2,
         "failed": 1, "uncertain": 0, "in_flight": 0, "reserved": 0, "money": 0.5, "unpriced": 0,
         "seconds": 1.5, "usage": {"input": 7, "output": 2, "cached": 0, "reasoning": 0}}  # fmt: skip

number = st.floats(allow_nan=False, allow_infinity=False)  # what JSON can hold


def made(kind: type, **given: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    numbers = {
        f.name: st.none() | number if f.type == float | None else number
        for f in fields(kind)
        if f.type in (float, float | None)
    }
    return st.builds(kind, **(numbers | given))


def few(kind: type) -> st.SearchStrategy[Any]:
    return st.lists(made(kind), max_size=2).map(tuple)


words = st.lists(st.text(), max_size=2).map(tuple)
rows = made(TableRow, comparison=st.none() | made(HolmComparison, note=st.text()))
summaries = made(
    Summary,
    error=st.text(),
    decision=st.none() | made(Decision, comparisons=few(GateComparison)),
    search=st.none() | made(SearchCounts, warnings=words),
    explanation=st.none() | made(Explanation, parts=few(Worth), steps=few(Worth)),
    tables=st.dictionaries(
        st.sampled_from(["test", "shift"]), st.lists(rows, max_size=2).map(tuple)
    ),
    models=few(Spending),
)


@given(summaries)
def test_a_summary_comes_back_from_its_json(summary: Summary) -> None:
    text = json.dumps(summary.to_json(), sort_keys=True, allow_nan=False)
    assert json.loads(text)["version"] == VERSION
    assert Summary.from_json(json.loads(text)) == summary


def test_what_was_kept_without_a_version_is_read_and_kept_with_the_same_keys() -> None:
    found = Summary.from_json(OLD)
    assert found.decision is not None and found.decision.comparisons[0].gain == -0.1
    assert found.search is not None and found.search.warnings == ("a warning",)
    assert (found.explanation, found.models, found.error) == (None, (), "")
    assert list(found.tables) == ["test", "shift"]  # however they were sorted
    against, learned = found.tables["test"]
    assert against.comparison is not None and against.comparison.p_holm == 0.006
    assert learned.comparison is None and found.row("test") == learned
    assert (found.row("shift"), found.row("valid")) == (None, None)
    new = {"version": VERSION, "explanation": None, "models": []}
    assert found.to_json() == OLD | new


def test_spending_that_was_summed_up_before_there_were_tasks_is_read() -> None:
    (spent,) = Summary.from_json(OLD | {"models": [SPENT]}).models
    assert (spent.role, spent.task_id, spent.usage.total) == ("agent", "", 9)
    assert spent.to_json() == SPENT | {"task_id": ""}


@pytest.mark.parametrize(
    "kept",
    [
        {},
        {"seconds": 1.5},
        {"seconds": 1.5, "error": "the allowance is spent"},
        {"proposed": 6, "accepted": 5, "warnings": []},  # of the control's journal
    ],
)
def test_a_run_that_is_not_finished_has_what_it_has(kept: dict[str, object]) -> None:
    found = Summary.from_json(kept)
    assert found == Summary(seconds=kept.get("seconds", 0.0), error=kept.get("error", ""))
    known = {name: value for name, value in kept.items() if name in ("seconds", "error")}
    assert found.to_json() == {"version": VERSION, "seconds": 0.0, **known}


def test_what_a_later_version_adds_is_left_alone_and_what_it_changes_is_refused() -> None:
    later = OLD | {"version": VERSION, "weather": "fine", "tables": {"test": [ROW | {"more": 1}]}}
    assert Summary.from_json(later).tables["test"] == Summary.from_json(OLD).tables["shift"]
    with pytest.raises(DataError, match=f"version {VERSION + 1}") as refused:
        Summary.from_json({"version": VERSION + 1})
    assert refused.value.hint == "upgrade metamem"
    with pytest.raises(DataError, match="TableRow has no 'mean'"):
        TableRow.from_json({name: value for name, value in ROW.items() if name != "mean"})


def test_runs_of_an_older_archive_are_read_and_reported(tmp_path: Path) -> None:
    unpack_archive("archive-schema-3.sql.xz", tmp_path / "archive.db")
    with SqliteArchive(tmp_path / "archive.db") as archive:
        kept = {run.id: run for run in archive.runs()}
        ended = Summary.from_json(kept["toy-s0-1"].summary)
        pages = {name: render_report(archive, name) for name in kept}
    new = {"version": VERSION, "explanation": None}
    assert ended.to_json() == kept["toy-s0-1"].summary | new
    assert ended.decision is not None and ended.decision.best_human == "success_retrieval"
    assert "success_retrieval" in pages["toy-s0-1"] and "The promotion gate" in pages["toy-s0-1"]
    assert Summary.from_json(kept["stopped"].summary) == Summary(seconds=12.91)
    assert "This run has not finished" in pages["stopped"]


def test_intervals_end_where_rewards_do() -> None:
    mark = Fingerprint(
        "d", "toy", "1", "test", {}, "reader", {}, "hashed", "1", {}, 0
    )  # fmt: skip
    cases = tuple(CaseResult(f"t{n}", 0, float(n % 2), 1) for n in range(4))
    played = Evaluation(mark, cases, len(cases))
    (usual,) = table({"a": played}, ())
    assert (usual.low, usual.high) == (0.0, 1.0)  # of 4 tasks: the interval is wider
    (wide,) = table({"a": played}, (), reward_range=(-5.0, 5.0))
    assert wide.low < 0.0 < 1.0 < wide.high
    assert replace(wide, low=0.0, high=1.0) == usual
