"""Files in the format of LoCoMo: own small ones, and the published one where it is at hand."""

import json
from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from metamem.core.errors import DataError, UsageError
from metamem.core.types import SPLITS
from metamem.domains.dialogue.domain import DialogueDomain
from metamem.domains.dialogue.locomo import load
from tests.thirdparty import third_party


def sample(number: int = 0) -> dict[str, Any]:
    return {
        "sample_id": f"talk-{number}",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bo",
            "session_2_date_time": "8:10 pm on 9 June, 2023",
            "session_2": [
                {"speaker": "Bo", "dia_id": "D2:1", "text": "I sold the canoe last Friday."}
            ],
            "session_1_date_time": "1:05 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "My sister paints."},
                {
                    "speaker": "Ann",
                    "dia_id": "D1:2",
                    "text": "Look at this!",
                    "blip_caption": "a red barn",
                },
            ],
            "session_3_date_time": "1:00 pm on 1 July, 2023",
        },
        "qa": [
            {"question": "What does Ann's sister do?", "answer": "paints", "evidence": ["D1:1"], "category": 4},
            {"question": "When did Bo sell the canoe?", "answer": "The Friday before 9 June 2023", "evidence": ["D2:1"], "category": 2},
            {"question": "What was for sale and shown?", "answer": "canoe, barn", "evidence": ["D2:01; D:1:2"], "category": 1},
            {"question": "What did Ann sell?", "adversarial_answer": "the canoe", "evidence": ["D2:1"], "category": 5},
            {"question": "Lost in the file?", "answer": "yes", "evidence": ["D"], "category": 3},
        ],
    }  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "talks.json"
    path.write_text(json.dumps([sample(n) for n in range(6)]))
    return path


def test_sessions_are_read_in_order_with_dates_and_captions(file: Path) -> None:
    talk = load(file)[0]
    assert [session.date for session in talk.sessions] == ["8 May 2023", "9 June 2023"]
    assert talk.sessions[0].lines[1].text == "Look at this! [image: a red barn]"


def test_questions_are_read_with_evidence_even_where_ids_are_written_badly(file: Path) -> None:
    questions = load(file)[0].questions
    assert [q.kind for q in questions] == ["single", "temporal", "multi", "unknown"]
    assert [[g[0].line for g in q.evidence] for q in questions] == [
        ["D1:1"],
        ["D2:1"],
        ["D2:1", "D1:2"],
        [],
    ]
    assert questions[2].answers == (("canoe", "barn"),)
    assert questions[3].against == ("the canoe",)


def test_the_day_of_the_session_answers_when(file: Path) -> None:
    domain = DialogueDomain(data=str(file))
    task = next(t for t in domain.tasks("test") if t.kind == "temporal")
    world = domain.world(task, 0)
    assert world.step("9 June 2023, Bo: I sold the canoe last Friday.").reward == 1.0
    assert world.step("I sold the canoe last Friday.").reward == 0.5


def test_splits_are_disjoint_by_conversation(file: Path) -> None:
    domain = DialogueDomain(data=str(file))
    groups = [g for split in SPLITS for g in {t.group for t in domain.tasks(split)}]
    assert len(groups) == len(set(groups)) == 6


def test_the_version_follows_the_content_of_the_file(file: Path) -> None:
    before = DialogueDomain(data=str(file)).version
    file.write_text(file.read_text().replace("paints", "draws"))
    assert DialogueDomain(data=str(file)).version != before


@pytest.mark.parametrize("content", ["{", "[1]", '[{"qa": []}]', '{"a": 1}'])
def test_other_files_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(DataError):
        load(path)


def test_too_few_conversations_and_no_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file"):
        DialogueDomain(data=str(tmp_path / "none.json"))
    path = tmp_path / "few.json"
    path.write_text(json.dumps([sample()]))
    with pytest.raises(UsageError, match="at least 5"):
        DialogueDomain(data=str(path))


def test_the_published_file() -> None:
    path = third_party("locomo10.json")
    talks = load(path)
    assert len(talks) == 10
    assert sum(len(talk.sessions) for talk in talks) == 272
    assert sum(len(s.lines) for talk in talks for s in talk.sessions) == 5882
    kinds = Counter(q.kind for talk in talks for q in talk.questions)
    assert kinds == {"single": 841, "unknown": 446, "temporal": 321, "multi": 282, "open": 92}
    domain = DialogueDomain(data=str(path))
    tasks = [task for split in SPLITS for task in domain.tasks(split)]
    assert len(tasks) == 1982
    reached = fmean(domain.world(t, 0).step(domain.oracle(t)).reward for t in tasks)
    assert reached > 0.98
