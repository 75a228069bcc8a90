"""A scripted coding agent writes the designs of a real run, over files and over MCP."""

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from metamem.core.types import Design
from metamem.evaluation.jobs import Spec
from metamem.runs.config import LearnConfig
from metamem.search.handoff import run_folder
from metamem.store.sqlite import SqliteArchive
from tests.cli.conftest import program
from tests.extras import needs

DOORS = '''"""What lies behind which door."""

import re

from metamem.designs import Experience, Memory, Query, Tools


class Doors(Memory):
    """Remembers every door that was opened and what was behind it."""

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.behind: dict[str, str] = {}

    async def retrieve(self, query: Query) -> str:
        thing = query.goal.split()[-1]
        door = self.behind.get(thing)
        return f"open the {door} door, then take the {thing}" if door else ""

    async def update(self, experience: Experience) -> None:
        for step in experience.steps:
            found = re.match(r"Behind the (\\w+) door: (\\w+)", step.observation)
            if found:
                self.behind[found[2]] = found[1]
'''
BROKEN = DOORS.replace("self.behind.get(thing)", "self.doors.get(thing)")
ENDLESS = DOORS.replace("door = self", "while True: pass\n        door = self")
TERSE = DOORS.replace(", then take the {thing}", "")
LEARN = ("learn", "toy", "--run", "toy", "--proposer", "handoff", "--designs", "2", "--no-control")


@pytest.fixture
def learning(tmp_path):
    """Start the run, or go on with it, in a process of its own."""
    started = []

    def start():
        command = ["-m", "metamem.cli.main", *LEARN, "--workers", "1", "--home", str(tmp_path)]
        process = subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def until_there(path):
    """The run is in the archive a moment after its process has started."""
    for _ in range(600):
        if path.is_dir():
            return
        time.sleep(0.1)
    raise AssertionError(f"{path} never appeared")


@pytest.mark.slow
def test_a_coding_agent_runs_the_whole_search(metamem, tmp_path, learning):
    def handoff(*arguments):
        return metamem("handoff", *arguments, "--home", tmp_path, "--json")

    process = learning()
    until_there(run_folder(tmp_path, "toy"))
    request = handoff("next", "--wait", 120).json
    assert request["number"] == 1
    draft = Path(request["folder"]) / "design.py"

    # A broken design: found by check, and by the verifier where check is left out.
    draft.write_text(BROKEN)
    checked = handoff("check", 1)
    assert (checked.code, checked.json["passed"]) == (1, False)
    assert "no attribute 'doors'" in checked.json["error"]
    with SqliteArchive(tmp_path / "archive.db") as archive:
        assert Design(BROKEN).id not in {record.id for record in archive.designs()}
    failed = handoff("submit", 1, "--wait", 120, "--note", "doors").json
    assert failed["status"] == "failed" and "no attribute 'doors'" in failed["reason"]

    # Its repair.
    request = handoff("next", "--wait", 120).json
    assert request["number"] == 2 and "no attribute 'doors'" in request["repair"]["error"]
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_text(DOORS)
    tried = handoff("check", 2, elsewhere, "--score", "--tasks", 6).json
    assert tried["passed"] and tried["cpu"]["update"]["calls"] == 20
    assert 0 < tried["cpu"]["retrieve"]["most"] < tried["cpu"]["retrieve"]["limit"] == 5
    advice = {a["goal"]: a["text"] for a in tried["advice"]}
    assert len({a["kind"] for a in tried["advice"]}) == 3
    assert all(goal in text for goal, text in advice.items() if text) and any(advice.values())
    score = tried["score"]
    assert (score["mean"]["tasks"], score["mean"]["of"], score["quick_cases_left"]) == (6, 20, 74)
    assert score["gain"] == pytest.approx(score["mean"]["mean"] - score["parent"]["mean"])
    assert score["gain_interval"][0] <= score["gain"] <= score["gain_interval"][1]
    worst = Path(request["folder"]) / score["tasks"][0]["transcript"]
    assert f"Task: {score['tasks'][0]['task']}" in worst.read_text()
    done = handoff("submit", 2, elsewhere, "--wait", 120, "--note", "doors, repaired").json
    assert (done["status"], done["design"]) == ("accepted", Design(DOORS).id)
    assert done["score"] > 0.8 and done["gain"] > 0.2 and (done["tasks"], done["of"]) == (20, 20)
    assert done["interval"][0] < done["score"] and done["gain_interval"][0] > 0

    # The process dies while it waits; what is submitted meanwhile is not lost.
    assert handoff("next", "--wait", 120).json["number"] == 3
    process.kill()
    process.wait()
    status = handoff("status").json
    assert (status["working"], status["waiting"], status["proposed"]) == (False, [3], 1)
    assert status["best"]["design"] == Design(DOORS).id
    assert all(status["best"][key] == done[key] for key in ("score", "interval", "tasks", "of"))
    assert status["quick_cases"] == {"allowed": 80, "left": 74}  # what was spent is not forgotten
    assert handoff("check", 3, elsewhere).json["error"].startswith("this is the same code as")
    again = handoff("submit", 3, elsewhere)
    assert (again.code, "the same code as" in again.err) == (2, True)
    elsewhere.write_text(DOORS.replace("door = self", "_ = 1\n        door = self"))
    same = handoff("check", 3, elsewhere)
    assert same.code == 1 and "the same advice as" in same.json["error"] and same.json["advice"]
    elsewhere.write_text(TERSE + "\n# " + "x" * 100)
    assert handoff("check", 3, elsewhere, "--score").json["score"]["quick_cases_left"] == 54
    pending = handoff("submit", 3, elsewhere, "--note", "terse").json
    assert pending["status"] == "pending" and "no process works" in pending["reason"]

    assert learning().wait(timeout=200) == 0
    assert "the run is finished" in handoff("next").json["message"]
    told = metamem("handoff", "status", "--home", tmp_path).out
    assert "Designs: 2 of 2" in told and "Request 1: failed" in told
    assert "Request 2: accepted, score" in told and "gain over its parent +" in told
    assert "on 20 of 20 tasks" in told and "Cases for quick scores: 54 of 80 left" in told
    with SqliteArchive(tmp_path / "archive.db") as archive:
        own = [p for p in archive.proposals("toy") if p.operator == "handoff"]
    assert [p.note for p in own] == ["doors, repaired", "terse"]
    assert sorted(p.name for p in run_folder(tmp_path, "toy").glob("0*")) == [
        "0001",
        "0002",
        "0003",
    ]


# --- MCP -----------------------------------------------------------------------------------------


@pytest.fixture
def errors(tmp_path_factory):
    """What a server says on stderr."""
    with (tmp_path_factory.mktemp("errors") / "log").open("w+") as file:
        yield file


def server(home, *arguments):
    return ["-m", "metamem.cli.main", "handoff", "mcp", *arguments, "--home", str(home)]


@pytest.mark.slow
async def test_a_coding_agent_runs_the_search_over_mcp_and_goes_on_later(tmp_path, errors):
    needs("mcp")
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    def client():
        arguments = server(tmp_path, "toy", "--designs", "2", "--workers", "1")
        parameters = StdioServerParameters(
            command=sys.executable, args=arguments, env=dict(os.environ)
        )
        return Client(stdio_client(parameters, errlog=errors))

    async def call(session, tool, **arguments):
        result = await session.call_tool(tool, arguments)
        texts = [block.text for block in result.content]
        return texts if result.is_error else [json.loads(texts[0]), *texts[1:]]

    async with client() as session:
        assert {tool.name for tool in (await session.list_tools()).tools} == {
            "next",
            "read",
            "check",
            "submit",
            "status",
        }
        request, dossier, manual = await call(session, "next", wait_seconds=120)
        assert request["number"] == 1 and "Find the thing" in dossier and "retrieve" in manual
        (checked,) = await call(session, "check", number=1, source=BROKEN)
        assert not checked["passed"] and "no attribute 'doors'" in checked["error"]
        for wrong in ({"source": "x = 1"}, {"number": "many"}, {"number": 2, "note": "no file"}):
            (error,) = await call(session, "submit", **wrong)
            assert "Traceback" not in error
        (error,) = await call(session, "submit", number=1, note="", source="#" * 5_000_000)
        assert "longer than" in error
        (done,) = await call(
            session, "submit", number=1, note="doors", source=DOORS, wait_seconds=120
        )
        assert done["status"] == "accepted" and done["gain"] > 0.2
        assert (await call(session, "next", wait_seconds=120))[0]["number"] == 2

    # The client has gone, and with it the run's process.
    status = json.loads(program("handoff", "status", "--json", "--home", tmp_path).stdout)
    assert (status["working"], status["state"], status["waiting"]) == (False, "stopped", [2])
    async with client() as session:
        request, _ = await call(session, "next", wait_seconds=120, manual=False)
        assert request["number"] == 2
        (checked,) = await call(session, "check", number=2, source=TERSE)
        assert checked["passed"] and checked["advice"]
        (checked,) = await call(session, "check", number=2, score=True, tasks=4)
        assert checked["score"]["mean"]["tasks"] == 4
        (status,) = await call(session, "status")
        assert status["working"] and status["proposed"] == 1
        given_up = asyncio.create_task(call(session, "check", number=2, source=ENDLESS))
        await asyncio.sleep(2)
        given_up.cancel()
    errors.seek(0)
    assert "Traceback" not in errors.read()


@pytest.mark.slow
def test_nonsense_over_mcp_does_no_harm_and_stdout_is_the_protocols(tmp_path):
    needs("mcp")
    hello = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    lines = ["nonsense", "[" * 100_000, '{"jsonrpc": "2.0"}', "[]", json.dumps(hello), "\x00"]
    done = subprocess.run(
        [sys.executable, *server(tmp_path, "toy", "--designs", "1")],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    (answer,) = [a for a in answers if a.get("id") == 7]
    assert "next" in answer["result"]["instructions"]


def test_mcp_without_its_package_says_what_to_install(tmp_path):
    code = (
        "import sys; sys.modules['mcp'] = None; from metamem.cli.main import main; "
        f"main(['handoff', 'mcp', 'toy', '--home', {str(tmp_path)!r}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "pip install" in done.stderr and "'mcp" in done.stderr
    assert len(done.stderr.splitlines()) == 2 and not list(tmp_path.iterdir())


# --- wrong input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["next"], "there is no archive"),
        (["check", "1"], "there is no archive"),
        (["check", "0"], "NUMBER"),
        (["submit", "one"], "NUMBER"),
        (["mcp"], "which domain"),
        (["mcp", "toi"], "did you mean 'toy'"),
        (["mcp", "--run", "nothing"], "there is no archive"),
        (["mcp", "toy", "--run", "../x"], "cannot name a run"),
    ],
)
def test_wrong_input(metamem, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    answer = metamem("handoff", *arguments)
    assert (answer.code, said in answer.err) == (2, True), answer.err
    assert answer.err.startswith("error: ") and len(answer.err.splitlines()) <= 2
    assert not list(tmp_path.iterdir())


def test_runs_that_hand_nothing_off(metamem, home):
    for arguments in (["next"], ["status", "--run", "toy-s0-1"], ["check", "1"]):
        answer = metamem("handoff", *arguments, "--home", home)
        assert (answer.code, "--proposer handoff" in answer.err) == (2, True)
    assert metamem("handoff", "status", "--run", "nothing", "--home", home).code == 2
    assert metamem("handoff", "mcp", "--run", "nothing", "--home", home).code == 2
    answer = metamem("handoff", "mcp", "--run", "toy-s0-1", "--home", home)
    assert (answer.code, "come from recombine" in answer.err) == (2, True)


@pytest.mark.parametrize("other", [["toy", "--seed", "1"], ["toy", "--designs", "9"], ["baba"]])
def test_a_run_does_not_change_its_settings(metamem, tmp_path, other):
    with SqliteArchive(tmp_path / "archive.db") as archive:
        config = LearnConfig(Spec("toy"), proposer=Spec("handoff"))
        archive.create_run("mine", config.to_json())
    answer = metamem("handoff", "mcp", *other, "--run", "mine", "--home", tmp_path)
    assert (answer.code, "with other settings" in answer.err) == (2, True), answer.err


def test_what_is_named_must_be_a_plain_file(metamem, home, tmp_path):
    place = run_folder(home, "toy-s0-1") / "0001"
    place.mkdir(parents=True)
    task = {"number": 1, "request": "r", "parent": "", "failed": "", "error": "", "copied": ""}
    (place / "task.json").write_text(json.dumps(task))
    link = tmp_path / "link.py"
    link.symlink_to("/etc/hostname")
    for name in (link, tmp_path, tmp_path / "missing.py", "/dev/zero", "a\nb.py"):
        answer = metamem("handoff", "submit", 1, name, "--home", home)
        assert answer.code in (2, 3) and answer.err.startswith("error: ")
    answer = metamem("handoff", "submit", 1, "--home", home)
    assert "has no design.py yet" in answer.err


def test_the_skill_is_printed(metamem):
    said = metamem("handoff", "skill").out
    assert said.startswith("---\nname: metamem-handoff\n")
    for command in ("next", "check", "submit", "status"):
        assert f"metamem handoff {command}" in said


# --- blind ---------------------------------------------------------------------------------------

NOSY = DOORS.replace("door = self", "raise ValueError(__file__)\n        door = self")


@pytest.mark.slow
async def test_over_mcp_nothing_is_told_that_a_blind_proposer_may_not_know(tmp_path, errors):
    """Everything that the tools ever answer, to the end of a run and through wrong input."""
    needs("mcp")
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    home = tmp_path / "secret-home"
    said: list[str] = []
    parameters = StdioServerParameters(
        command=sys.executable,
        args=server(home, "toy", "--designs", "1", "--workers", "1"),
        env=dict(os.environ),
    )
    async with Client(stdio_client(parameters, errlog=errors)) as session:

        async def call(tool, **arguments):
            result = await session.call_tool(tool, arguments)
            said.extend(block.text for block in result.content)
            return result.is_error, result.content[0].text

        for tool in (await session.list_tools()).tools:
            said.append(f"{tool.description} {json.dumps(tool.input_schema)}")
        _, asked = await call("next", wait_seconds=120)
        names = json.loads(asked)["documents"]
        assert {"dossier.md", "manual.md", "parent.py", "tasks.md"} <= set(names)
        assert sum(name.startswith("episodes/") for name in names) == 12
        for name in names:
            assert not (await call("read", number=1, name=name))[0]
        for name in (
            "task.json", "../open.json", "../../../archive.db", "/etc/hostname", "", ".",
            "episodes/../task.json", "episodes", "design.py", "\0", "archive.db",
        ):  # fmt: skip
            assert (await call("read", number=1, name=name))[0], name
            said[-1] = said[-1].replace(name or "''", "")  # what was asked for is no news
        assert (await call("read", number=2, name="dossier.md"))[0]
        for source in (BROKEN, NOSY, "x = ", DOORS):
            await call("check", number=1, source=source, score=True, tasks=5)
        (_, shown) = await call("read", number=1, name="check/01.txt")
        assert shown.startswith("Task: train-")
        await call("submit", number=1, note="doors", wait_seconds=120)
        while "the run is finished" not in (await call("next", wait_seconds=20))[1]:
            pass
        await call("status")
    text = "\n".join(said)
    assert "train-" in text
    package = str(Path(__file__).parents[2] / "src")
    for secret in (
        str(tmp_path), "secret-home", package, "archive.db", "metamem.domains", "oracle",
        "generator", "valid-", "test-0", "shift-", "promoted", "Traceback (most recent call last)\n",
    ):  # fmt: skip
        assert secret not in text, secret
    assert not list(tmp_path.glob("secret-home/handoff/*/0002"))
