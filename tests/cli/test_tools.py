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
    said = metamem("promotions", "pending")
    assert (said.code, said.out) == (0, "Nothing waits for a person.\n")
    assert metamem("promotions", "pending", "--home", tmp_path / "mistyped").code == 2


@needs_jail
def test_from_waiting_to_use_and_back(metamem, place: Shop):
    said = metamem("promotions", "pending")
    assert "greet" in said.out and "metamem tools show" in said.out
    tool = waiting(metamem)
    shown = metamem("tools", "show", tool[:8])
    assert "hello" in shown.out and "82.0%" in shown.out and "waits" in shown.out
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
    for asked in (("--help",), ("--name", "Ada", "-h")):
        said = metamem("tool", "greet", *asked)
        assert (
            said.code == 0 and "metamem tool greet --json" in said.out and "hello" not in said.out
        )
    said = metamem("tool", "greet", "--nome", "Ada")
    assert said.code == 2 and "unrecognized arguments" in said.err + said.out
    said = metamem("tool", "tool_greet", "--name", "nobody")
    assert said.code == 3 and "failed with exit code 3" in said.err
    listed = metamem("tools", "list", "--json").json
    (one,) = listed["in_use"]
    # Asking for help is no use; nor is a flag that it does not know, which cost no agent anything.
    assert one["fitness"]["worked"] == 2 and one["account"]["uses"] == 3
    assert one["account"]["refused"] == 1 and one["account"]["calls"]["value"] == -3
    assert "greet" in metamem("tools").out
    said = metamem("promotions", "undo", tool[:8], "--reason", "rude")
    assert said.code == 0 and "withdrawn: greet" in said.out
    said = metamem("tool", "greet", "--name", "Ada")
    assert said.code == 2 and "greet is out of use: rude" in said.err and "by hand" in said.err
    assert not (place.folder / ".agents").exists()
    (other,) = metamem("tools", "--json").json["others"]
    assert other["state"] == "undone" and other["account"]["uses"] == 3  # what it did stays known
    listed = " ".join(metamem("tools").out.split())
    assert "undone: rude 3 0 67%" in listed
    tools = place.memory / "tools"
    for path in (tools, *tools.rglob("*"), place.memory / "archive.db"):
        if ".git" not in path.parts:
            assert path.stat().st_mode & 0o077 == 0, path


def test_the_steps_of_a_tool_come_first(metamem, place: Shop):
    """What a person is asked to read; the helpers of all tools are left out."""
    place.more(0, 40)
    place.tool()
    ids = {t["name"]: t["id"] for t in metamem("tools", "--json").json["others"]}
    (name,) = set(ids) - {"greet"}
    shown = metamem("tools", "show", name).out
    assert "judged by: 24 of 24 held-out cases with equal effects, at least 82.0% of all" in shown
    assert "def steps(v):" in shown and "def inside(" not in shown and "--all shows them" in shown
    shown = metamem("tools", "show", name, "--all").out
    assert "def steps(v):" in shown and "def inside(" in shown


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
