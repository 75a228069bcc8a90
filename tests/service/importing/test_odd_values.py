"""What a transcript may hold that no store and no stack can: it is kept without, and stops nobody."""

import json
from pathlib import Path
from typing import Any

import pytest

from metamem.core.documents import DEEPEST, read_json
from metamem.foundry.failures.linking import link
from metamem.foundry.words import Trace, Use
from tests.service.importing.test_calls import Kept, written
from tests.service.importing.written import Claude, Codex, use

DEEP = '{"":' * 5000


def nested(levels: int) -> Any:
    return json.loads("[" * levels + "]" * levels)


@pytest.mark.parametrize(
    ("odd", "known"),
    [
        ("NaN", 2),
        ("-Infinity", 2),
        ("1e400", 2),
        ("9" * 4300, 2),
        ("9" * 4301, 1),
        ('"\\ud800"', 2),
        ("[" * 600 + "]" * 600, 1),
    ],
)
def test_odd_arguments_cost_their_line_at_most(tmp_path: Path, odd: str, known: int) -> None:
    session = Claude("c1", str(tmp_path))
    session.user("Read both.")
    session.agent(use("toolu_1", "Read", file="a", limit="ODD"))
    session.result("toolu_1", "A")
    session.agent(use("toolu_2", "Read", file="b"))
    session.result("toolu_2", "B")
    path = written(tmp_path, session)
    path.write_text(path.read_text().replace('"ODD"', odd))
    kept = Kept(tmp_path, "claude-code")
    kept.read()
    named = [call for call, row in kept.calls().items() if row[1] == "Read"]
    assert "toolu_2" in named and len(named) == known


def test_an_output_without_end_stops_no_import(tmp_path: Path) -> None:
    session = Codex("x1", str(tmp_path))
    session.user("Make it.")
    session.add(
        "response_item", type="function_call", name="exec_command", call_id="k1", arguments=DEEP
    )
    session.add("response_item", type="function_call_output", call_id="k1", output=DEEP)
    session.run("k2", "make", "done", 0)
    path = tmp_path / "sessions" / "2026" / "08" / "02" / "rollout-2026-08-02T09-00-00-x1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(session.text())
    kept = Kept(tmp_path, "codex")
    assert kept.read() == 2 and set(kept.calls()) == {"k1", "k2"}


def test_an_output_without_end_stops_no_learning() -> None:
    failed = Use("1", "Bash", {"command": "make"}, DEEP, failed=True, exit_code=2)
    assert len(link(Trace("t/project/p", "codex", "s", (failed,)))) == 1


def test_depth_is_measured_where_it_is() -> None:
    wide = [[] for _ in range(DEEPEST * 3)]
    assert read_json(json.dumps(wide)) == wide
    assert read_json(json.dumps(nested(DEEPEST))) == nested(DEEPEST)
    with pytest.raises(ValueError, match="too deep"):
        read_json(json.dumps(nested(DEEPEST + 1)))
