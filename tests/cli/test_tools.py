"""Tools from the command line: what waits, approving, using, undoing; words and exit codes."""

from pathlib import Path

import pytest

from metamem.sandbox import bubblewrap
from tests.cli.conftest import Said
from tests.foundry.tools.shop import Shop, opened

needs_jail = pytest.mark.skipif(not bubblewrap.works(), reason="bwrap does not work here")
GREETS = """
import argparse, json, sys
parser = argparse.ArgumentParser()
parser.add_argument("--json")
parser.add_argument("--name")
given = parser.parse_args()
name = json.loads(sys.stdin.read())["name"] if given.json else given.name
print("hello", name)
sys.exit(3 if name == "nobody" else 0)
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A memory with a tool that waits, seen from the folder of its project."""
    with opened(tmp_path, sessions=0) as shop:
        monkeypatch.setenv("METAMEM_MEMORY", str(shop.memory))
        monkeypatch.chdir(shop.folder)
        shop.offer(GREETS, "greet")
        yield shop


def waiting(metamem) -> str:
    (entry,) = metamem("promotions", "pending", "--json").json
    return entry["subject"]["id"]


def test_nothing_here(metamem, tmp_path, monkeypatch):
    monkeypatch.setenv("METAMEM_MEMORY", str(tmp_path / "memory"))
    monkeypatch.chdir(tmp_path)
    said = metamem("tools")
    assert said.code == 0 and "no tool here yet" in said.out
    assert metamem("tools", "--json").json == {"in_use": [], "others": []}
    said = metamem("tool", "greet")
    assert said.code == 2 and "no tool called 'greet'" in said.err and "Traceback" not in said.err
    assert metamem("promotions").code == 2  # no archive anywhere


@needs_jail
def test_from_waiting_to_use_and_back(metamem, place: Shop):
    said = metamem("promotions", "pending")
    assert "greet" in said.out and "metamem tools show" in said.out
    tool = waiting(metamem)
    shown = metamem("tools", "show", tool[:8])
    assert "hello" in shown.out and "0.82" in shown.out and "waits" in shown.out
    assert metamem("tool", "greet", "--name", "Ada").code == 2  # not before somebody approves
    said = metamem("promotions", "approve", tool[:8], "--by", "Ada")
    assert (
        said.code == 0
        and "deployed as greet" in said.out
        and "metamem tool greet --help" in said.out
    )
    assert (place.folder / ".agents/skills/greet/SKILL.md").exists()
    said = metamem("tool", "greet", "--name", "Ada")
    assert (said.code, said.out) == (0, "hello Ada\n") and "greet: done in" in said.err
    assert metamem("tool", "greet", "--json", '{"name": "Bo"}').out == "hello Bo\n"
    said = metamem("tool", "tool_greet", "--name", "nobody")
    assert said.code == 3 and "failed with exit code 3" in said.err
    listed = metamem("tools", "list", "--json").json
    (one,) = listed["in_use"]
    assert one["fitness"]["worked"] == 2 and one["account"]["uses"] == 3
    assert "greet" in metamem("tools").out
    said = metamem("promotions", "undo", tool[:8], "--reason", "rude")
    assert said.code == 0 and "withdrawn: greet" in said.out
    assert metamem("tool", "greet", "--name", "Ada").code == 2
    assert not (place.folder / ".agents").exists()
    assert metamem("tools", "--json").json["others"][0]["state"] == "undone"


def test_rejecting(metamem, place: Shop):
    tool = waiting(metamem)
    assert metamem("promotions", "reject", tool[:8], "--reason", "no").code == 0
    assert metamem("promotions", "pending", "--json").json == []
    assert metamem("tools", "--json").json["others"][0]["state"] == "rejected"


@needs_jail
def test_elsewhere_it_is_not_there(metamem, place: Shop, tmp_path: Path, monkeypatch):
    metamem("promotions", "approve", waiting(metamem)[:8])
    other = tmp_path / "other"
    other.mkdir()
    said: Said = metamem("tool", "--in", other, "greet", "--name", "Ada")
    assert said.code == 2 and "no tool called" in said.err
    assert metamem("tool", "--in", place.folder / "pkg", "greet", "--name", "Ada").code == 0
    said = metamem("tool", "greet", "--json", "[1]")
    assert said.code == 2 and "one JSON object" in said.err
    monkeypatch.setenv("METAMEM_URL", "http://127.0.0.1:9")
    said = metamem("tool", "greet")
    assert said.code == 2 and "where the memory's folder is" in said.err


def test_both_ledgers_are_told(metamem, place: Shop, home):
    said = metamem("promotions", "--home", home, "--json").json
    kinds = {entry["subject"]["kind"] for entry in said}
    assert kinds == {"design", "tool"}
    assert metamem("promotions", "--home", home).code == 0
