"""metamem enrich: what a pass did, what it cost, what is left."""

from pathlib import Path

import pytest

from metamem.service.connecting import open_folder
from metamem.service.words import Session, Turn

MODEL = "memory=scripted:tests.service.writing.scripts:moves"
SHOP = "local/project/shop"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("METAMEM_MODEL_MEMORY", raising=False)
    monkeypatch.setenv("METAMEM_MEMORY", str(tmp_path / "memory"))
    with open_folder(tmp_path / "memory") as memories:
        for number in range(3):
            turns = (Turn("Ada", f"I moved to street {number}"), Turn("Bob", "hello"))
            memories.ingest(SHOP, Session(f"s{number}", turns))
    return tmp_path / "memory"


def test_a_bounded_pass_tells_what_it_did(metamem, folder):
    assert metamem("status", "--json").json["enrichment"] is None
    looked = metamem("enrich", "--look", "--json")
    assert looked.json["standing"]["waiting"] == 6
    assert looked.json["standing"]["spent"]["questions"] == 0
    told = metamem("enrich", "--questions", 2, "--model", MODEL, "--max-tokens", 100000, "--json")
    assert told.code == 0, told.err
    assert told.json["pass"]["stored"] == told.json["pass"]["asked"] == 2
    assert told.json["cost"]["tokens"] > 0
    assert told.json["standing"]["scopes"] == {SHOP: 2}
    last = metamem("enrich", "--model", MODEL, "--max-tokens", 100000)
    assert "2 turns read with 1 questions: 1 facts stored" in last.out
    assert "0 turns wait" in last.out and "3 facts" in last.out
    assert metamem("status", "--json").json["enrichment"]["stored"] == 3
    assert "drew 3 facts" in metamem("status").out


def test_it_needs_a_model_a_limit_and_a_folder(metamem, folder, monkeypatch):
    for arguments, word in (
        ((), "no model is named"),
        (("--model", MODEL), "needs a limit"),
        (("--model", "memory=openai:", "--max-tokens", 5), ""),
        (("--url", "http://127.0.0.1:9", "--look"), "where the memory's folder is"),
        (("--memory", "nowhere", "--look"), ""),
    ):
        said = metamem("enrich", *arguments)
        assert said.code not in (0, 70) and word in said.err, said
