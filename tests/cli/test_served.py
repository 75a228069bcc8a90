"""metamem advise, experience and served, on the owner's own scope."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from metamem.store.records import Place, Subject
from metamem.store.sqlite import SqliteArchive
from tests.service.designs.parts import A

S = "local/project/shop"


@pytest.fixture
def run(metamem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The program, in a folder with a memory and an archive of its own."""
    monkeypatch.setenv("METAMEM_MEMORY", str(tmp_path / "memory"))
    monkeypatch.setenv("METAMEM_HOME", str(tmp_path / "home"))
    for name in ("METAMEM_URL", "METAMEM_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)

    def run(*words: str, stdin: str = "", code: int = 0) -> str:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        said = metamem(*words)
        assert said.code == code, said.out + said.err
        return said.out + said.err if code else said.out

    return run


def test_from_an_experience_to_advice_and_its_outcome(
    run: Callable[..., str], tmp_path: Path
) -> None:
    lived = json.dumps({"goal": "kept", "reward": 0})
    assert "kept as number 0" in run("experience", "-", "--scope", S, stdin=lived)
    design = tmp_path / "design.py"
    design.write_text(A.source)
    words = ["advise", "what now?", "--scope", S, "--json"]
    assert json.loads(run(*words))["note"] == "no design is in use here"
    found = json.loads(run(*words, "--design", str(design)))
    assert found["text"] == "A: kept"
    (tmp_path / "e.json").write_text(json.dumps({"goal": "more", "reward": 1}))
    run("experience", "e.json", "--scope", S, "--moment", found["moment"])
    shown = json.loads(run("served", "show", S, "--json"))
    assert shown["back"] == {"moments": 2, "advised": 1, "outcomes": 1, "warning": ""}
    assert shown["verdict"] == "not enough data yet"
    assert not (tmp_path / "home").exists()  # asking makes no archive
    in_short = json.loads(run("served", "show", "project/shop", "--json"))
    assert in_short["back"] == shown["back"]
    assert "more" in run("advise", "more", "--scope", "project/shop", "--design", str(design))


def test_a_design_that_waits_is_compared_and_approved_with_a_reason(
    run: Callable[..., str], tmp_path: Path
) -> None:
    run("experience", "-", "--scope", S, stdin='{"goal": "kept"}')
    (tmp_path / "home").mkdir()
    with SqliteArchive(tmp_path / "home" / "archive.db") as archive:
        from metamem.promotion.ledger import Ledger

        archive.add_design(A)
        Ledger(archive).promote(
            Subject("design", A.id), Place("scope", S), reason="a test", evidence={}
        )
    run("promotions", "approve", A.id[:8], code=2)
    assert "50% are held back" in run("served", "compare", S, A.id[:8])
    assert "not enough data yet" in run("served", "show", S)
    run("promotions", "approve", A.id[:8], code=2)
    assert "ended" in run("served", "end", S)
    why = ["--without-comparison", "I am its only user"]
    assert "is in use in scope:" in run("promotions", "approve", A.id[:8], *why)
    found = json.loads(run("advise", "x", "--scope", S, "--json"))
    assert found["text"] == "A: kept"
