"""The export holds everything, in files that stand on their own."""

import json
from pathlib import Path
from typing import Any

import pytest

from metamem.core.errors import StoreError, UsageError
from metamem.core.types import Case, Design, Episode, Fingerprint
from metamem.store import (
    Origin,
    Place,
    PromotionRecord,
    ProposalRecord,
    ReadRecord,
    SqliteArchive,
    Subject,
    export_archive,
)
from metamem.store.conformance.engines import NOTES
from metamem.store.conformance.support import ODD_TEXT, design, episode, fingerprint, row
from metamem.store.experiments import EXPERIMENTS


def lines(file: Path) -> list[dict[str, Any]]:
    with file.open(encoding="utf-8") as opened:  # `splitlines` would split at U+2028 too
        return [json.loads(line) for line in opened]


def test_everything_is_exported(tmp_path: Path) -> None:
    code, params = Design("x = 'ü'\r\ny = 1\n", name="code"), Design('{"a": 1}', kind="params")
    promotion = PromotionRecord(
        Subject("design", code.id), Place("domain", "toy"), 0, "promoted", "me", "", {}, "t", "r"
    )
    read = ReadRecord("t", "r", "test", code.id, "e", "report")
    with SqliteArchive(tmp_path / "archive.db") as archive:
        archive.add_design(code, created_by="llm")
        archive.add_design(params)
        key = archive.open_evaluation(fingerprint(code), 5)
        archive.add_rows(key, [row("a"), row(ODD_TEXT)], {Case("a"): episode("a", ODD_TEXT)})
        archive.create_run("r", {"seed": 3})
        archive.add_proposal(
            ProposalRecord("r", 0, params.id, (code.id,), "p", "o", ODD_TEXT, "accepted")
        )
        archive.put_collection("c", [episode("b", ODD_TEXT)])
        archive.put_collection("none", [])
        archive.add_origin(Origin("someone", "collection", "gone"))
        archive.put_collection("gone", [episode("private")])
        archive.erase("someone", decided_by="me", reason="asked to")
        archive.add_promotion(promotion)
        archive.record_read(read)
        assert export_archive(archive, tmp_path / "out" / "export") == ("blobs",)

    out = tmp_path / "out" / "export"
    assert (out / "designs" / f"{code.id}.py").read_bytes().decode() == code.source
    assert (out / "designs" / f"{params.id}.json").read_text() == params.source
    about = lines(out / "designs.jsonl")
    assert [(one["id"], one["name"], one["created_by"]) for one in about] == [
        (code.id, "code", "llm"),
        (params.id, "", ""),
    ]
    assert all((out / one["file"]).is_file() for one in about)

    (evaluation,) = lines(out / "evaluations.jsonl")
    assert Fingerprint.from_json(evaluation["fingerprint"]).id == key == evaluation["id"]
    assert evaluation["planned"] == 5
    assert [one["task_id"] for one in evaluation["rows"]] == sorted(["a", ODD_TEXT])
    assert evaluation["rows"][0]["reward"] == row().reward
    assert evaluation["rows"][0]["measured"] == {"seconds": 1.5, "retrieve_ms": 0.7}
    (trace,) = lines(out / "traces" / f"{key}.jsonl")
    assert trace["repeat"] == 0
    assert Episode.from_json(trace) == episode("a", ODD_TEXT)

    (run,) = lines(out / "runs.jsonl")
    assert (run["id"], run["config"], run["state"]) == ("r", {"seed": 3}, "created")
    (proposal,) = lines(out / "proposals.jsonl")
    assert (proposal["parents"], proposal["note"]) == ([code.id], ODD_TEXT)
    first, second = lines(out / "collections.jsonl")
    assert [Episode.from_json(one) for one in first["episodes"]] == [episode("b", ODD_TEXT)]
    assert second == {"id": "none", "episodes": []}
    assert lines(out / "promotions.jsonl")[0]["subject"]["id"] == code.id
    assert lines(out / "erasures.jsonl")[0]["erased"] == [["collection", "gone"]]
    assert lines(out / "reads.jsonl")[0]["split"] == "test"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["export"]


def test_an_empty_archive_gives_empty_files(tmp_path: Path) -> None:
    with SqliteArchive(tmp_path / "archive.db") as archive:
        export_archive(archive, tmp_path / "export")
    for name in ("designs", "runs", "proposals", "evaluations", "collections", "promotions"):
        assert lines(tmp_path / "export" / f"{name}.jsonl") == []


def test_an_export_replaces_nothing_and_leaves_nothing_half_made(tmp_path: Path) -> None:
    target = tmp_path / "export"
    archive = SqliteArchive(tmp_path / "archive.db")
    archive.add_design(design())
    target.mkdir()
    with pytest.raises(UsageError, match="there already"):
        export_archive(archive, target)
    target.rmdir()
    archive.close()
    with pytest.raises(StoreError, match="closed"):
        export_archive(archive, target)
    assert not [path.name for path in tmp_path.iterdir() if "export" in path.name]
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="failed"):
        export_archive(archive, tmp_path / "file" / "export")


def test_what_an_export_leaves_out_is_told(tmp_path: Path) -> None:
    with SqliteArchive(tmp_path / "archive.db", components=[NOTES]) as archive:
        assert export_archive(archive, tmp_path / "export") == ("blobs", "notes")
    with SqliteArchive(tmp_path / "archive.db") as archive:  # which knows nothing of notes
        assert export_archive(archive, tmp_path / "again") == ("blobs", "notes")
    about = json.loads((tmp_path / "again" / "export.json").read_text())
    assert about["left_out"] == ["blobs", "notes"]
    assert about["versions"] == {"experiments": EXPERIMENTS.newest, "notes": NOTES.newest}
