"""Files of other systems: what is read, and what each line that is at fault is told."""

import json
from pathlib import Path

import pytest

from metamem.core.errors import DataError, UsageError
from metamem.routing import Outcome
from metamem.routing.reading import read_log, read_rows

DECISION = {"task": "x", "odds": {"a": 0.5, "b": 0.5}, "arm": "a", "success": 1, "cost": 2}
ROW = {"task": "x", "outcomes": {"a": {"success": 1, "cost": 0.5}, "b": {"success": 0}}}


def without(name: str) -> dict[str, object]:
    return {key: value for key, value in DECISION.items() if key != name}


def test_a_log_is_read_in_its_order_with_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(DECISION) + "\n\n" + json.dumps({**DECISION, "arm": "b"}) + "\n")
    read = read_log(path)
    assert [(entry.arm, entry.where) for entry in read] == [
        ("a", "log.jsonl, line 1"),
        ("b", "log.jsonl, line 3"),
    ]
    assert read[0].outcome == Outcome(1.0, 2.0) and read[0].odds == {"a": 0.5, "b": 0.5}


def test_rows_are_read_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps({**ROW, "task": f"task {n}"}) for n in range(3)))
    read = read_rows(path)
    assert [row.context.task for row in read] == ["task 0", "task 1", "task 2"]
    assert read[0].outcomes == {"a": Outcome(1.0, 0.5), "b": Outcome(0.0)}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (without("odds"), "no propensities"),
        ({**DECISION, "odds": {}}, "no propensities"),
        ({**DECISION, "odds": {"a": "half"}}, "'odds of a' with 'half'"),
        ({**DECISION, "success": "NaN"}, "finite"),
        ({**DECISION, "success": 7}, "from 0 to 1"),
        ({**DECISION, "cost": None}, "'cost' with None"),
        (without("arm"), "does not say 'arm'"),
        (without("task"), "does not say 'task'"),
        (without("success"), "does not say 'success'"),
        ({**DECISION, "task": 3}, "must be a text"),
        ({**DECISION, "tags": ["a"]}, "an object of names"),
        ([1], "no object at all"),
    ],
)
def test_a_line_that_is_no_decision_is_told_with_its_place(
    tmp_path: Path, wrong: object, words: str
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(DECISION) + "\n\n" + json.dumps(wrong))
    with pytest.raises(DataError, match=rf"^log\.jsonl, line 3.*{words}"):
        read_log(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (json.dumps(DECISION), "line 1: is a decision of a log"),
        ('{"task": "x", "outcomes": {"a": {"success": 1}}}', "one arm only"),
        ('{"task": "x", "outcomes": {"a": {"success": NaN}, "b": {"success": 1}}}', "finite"),
        ('{"task": "x", "outcomes": {"a": {"luck": 1}, "b": {"success": 1}}}', "'luck'"),
        ('{"task": "x", "outcomes": {"a": {"cost": 1}, "b": {"success": 1}}}', "'success'"),
        ('{"task": "x", "outcomes": [1, 2]}', "an object"),
        ('{"outcomes": {}}', "one arm only"),
        ("nonsense", "line 1 is no row"),
        (json.dumps(ROW) + "\n" + json.dumps(ROW).replace('"b"', '"c"'), "line 2 has other arms"),
    ],
)
def test_a_line_that_is_no_row_is_told_with_its_place(
    tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match=words):
        read_rows(path)


def test_files_that_are_empty_or_not_there_are_told(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("\n")
    with pytest.raises(DataError, match="has no decision") as caught:
        read_log(path)
    assert "odds" in caught.value.hint
    for reader in (read_log, read_rows):
        with pytest.raises(UsageError, match="cannot be read"):
            reader(tmp_path / "nowhere.jsonl")
