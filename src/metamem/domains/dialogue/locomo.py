"""Reads conversations in the format of LoCoMo from a file that the user gives."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from metamem.core.errors import DataError, UsageError
from metamem.domains.dialogue.conversation import Conversation, Evidence, Line, Question, Session

KIND = {1: "multi", 2: "temporal", 3: "open", 4: "single", 5: "unknown"}
_LINE = re.compile(r"D:?(\d+):(\d+)")  # the published file has a few ids that are written badly
_DATE = re.compile(r"(\d{1,2}) (\w+),? (\d{4})")
_SESSION = re.compile(r"session_(\d+)$")


def load(path: Path) -> tuple[Conversation, ...]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(f"no file {path}", hint="data=FILE in the format of LoCoMo") from error
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read as JSON: {error}") from error
    try:
        return tuple(_conversation(sample, n) for n, sample in enumerate(content))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(
            f"{path} is not in the format of LoCoMo: {type(error).__name__} {error}",
            hint="a list of objects with `conversation` and `qa`",
        ) from error


def _conversation(sample: Mapping[str, Any], number: int) -> Conversation:
    spoken = sample["conversation"]
    numbers = sorted(int(m[1]) for key in spoken if (m := _SESSION.match(key)) and spoken[key])
    sessions = tuple(
        Session(
            _date(spoken[f"session_{n}_date_time"]),
            tuple(_line(turn) for turn in spoken[f"session_{n}"]),
        )
        for n in numbers
    )
    name = str(sample.get("sample_id", number))
    said = {line.id: (line, session.date) for session in sessions for line in session.lines}
    last = sessions[-1].date
    questions = (
        _question(f"{name}-q{n:03d}", asked, said, last) for n, asked in enumerate(sample["qa"])
    )
    return Conversation(
        name,
        (spoken["speaker_a"], spoken["speaker_b"]),
        sessions,
        tuple(q for q in questions if q.evidence or not q.answerable),
    )


def _date(text: str) -> str:
    found = _DATE.search(text)
    if found is None:
        raise ValueError(f"no date in {text!r}")
    return " ".join(found.groups())


def _line(turn: Mapping[str, Any]) -> Line:
    caption = turn.get("blip_caption")
    text = " ".join(turn["text"].split())
    if caption:
        text = f"{text} [image: {caption}]".strip()
    return Line(turn["dia_id"], turn["speaker"], text)


def _question(
    name: str, asked: Mapping[str, Any], said: Mapping[str, tuple[Line, str]], last: str
) -> Question:
    kind = KIND[asked["category"]]
    text = str(asked["question"])
    if kind == "unknown":  # asks of one speaker what only the other has told
        return Question(name, kind, text, last, against=(str(asked["adversarial_answer"]),))
    lines = [said[i] for i in _line_ids(asked["evidence"]) if i in said]
    evidence = tuple((Evidence(line.id, line.text.split(" [image:")[0]),) for line, _ in lines)
    answer = str(asked["answer"])
    parts = tuple(p for p in re.split(r"[;,] ", answer) if p) if kind == "multi" else (answer,)
    answers = [parts]
    if kind == "temporal":  # most answers count from the day of the session: that day does as well
        answers += [(day,) for day in dict.fromkeys(day for _, day in lines)]
    return Question(name, kind, text, last, evidence, tuple(answers), suffices=kind != "temporal")


def _line_ids(written: Iterable[str]) -> list[str]:
    pairs = (pair for text in written for pair in _LINE.findall(text))
    return list(dict.fromkeys(f"D{int(session)}:{int(line)}" for session, line in pairs))
