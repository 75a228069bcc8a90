"""Between a real client and a real server: everything passes, and calls are kept once."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from metamem.core.errors import UnknownName
from metamem.foundry.failures.intent import came
from metamem.foundry.traces import Traces
from metamem.foundry.words import Use
from metamem.service.database import FILE, Database
from metamem.service.importing.keeping import scope_of
from tests.extras import needs
from tests.service.writing.planted import SECRETS, drawn

needs("mcp")
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import Implementation

SERVER = str(Path(__file__).with_name("server.py"))
RECORD = [sys.executable, "-m", "metamem.cli.main", "record", "--"]
LIGHT = [sys.executable, str(Path(__file__).with_name("light.py"))]
PATIENCE = 60.0


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    return tmp_path / "shop"


def environment(shop: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "METAMEM_MEMORY": str(shop.parent / "memory"), **more}


def uses(shop: Path, count: int, *, ended: bool = True) -> list[Use]:
    """What is kept of the one session, once it is so many calls, with an end where one came."""

    def found() -> list[Use]:
        path = shop.parent / "memory" / FILE
        if not path.exists():
            return []
        with closing(Database(path)) as database, suppress(UnknownName):
            traces = list(Traces(database).traces(str(scope_of(str(shop)))))
            assert {(t.host, t.session[:4]) for t in traces} <= {("mcp", "mcp-")}
            return [use for trace in traces for use in trace.uses]
        return []

    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if sum(use.milliseconds is not None or not ended for use in found()) >= count:
            break
        time.sleep(0.1)
    return found()


def through(shop: Path, record: list[str], **more: str) -> StdioServerParameters:
    words = [*record[1:], sys.executable, SERVER]
    return StdioServerParameters(
        command=record[0], args=words, cwd=str(shop), env=environment(shop, **more)
    )


async def test_calls_errors_parallel_ones_and_a_cancelled_one(shop: Path) -> None:
    async with Client(through(shop, RECORD), read_timeout_seconds=PATIENCE) as client:
        assert len((await client.list_tools()).tools) == 4
        told = await client.call_tool("price", {"item": "tea"})
        assert told.content[0].text.startswith("tea costs 3")
        assert (await client.call_tool("price", {"item": "ghost"})).is_error
        both = await asyncio.gather(
            client.call_tool("slow", {"seconds": 3.0}), client.call_tool("slow", {"seconds": 1.5})
        )
        assert [each.content[0].text for each in both] == ["done", "done"]
        with pytest.raises(Exception, match="timed out"):
            await client.call_tool("slow", {"seconds": 30}, read_timeout_seconds=0.3)
        large = await client.call_tool("large", {"size": 3_000_000})
        assert len(large.content[0].text) == 3_000_000
    found = uses(shop, 6)
    assert [use.tool for use in found] == ["price", "price", "slow", "slow", "slow", "large"]
    tea, ghost, one, two, late, big = found
    assert (tea.arguments, tea.result.strip(), tea.failed) == (
        {"item": "tea"},
        "tea costs 3",
        False,
    )
    assert ghost.failed and "price" in ghost.error
    assert one.group == two.group and len({use.group for use in found}) == 5
    assert one.milliseconds and two.milliseconds and one.milliseconds > two.milliseconds >= 1000
    assert late.failed and late.error == "timed out: timed out after 0.3s"
    assert big.failed is False and len(big.result) < 10_000


async def test_a_server_that_dies_and_a_client_that_sees_it(shop: Path) -> None:
    async with Client(through(shop, LIGHT), read_timeout_seconds=PATIENCE) as client:
        await client.call_tool("price", {"item": "tea"})
        with pytest.raises(Exception):  # noqa: B017  whichever the client has for it
            await client.call_tool("die", {})
    found = uses(shop, 2)
    assert [(use.tool, use.failed) for use in found] == [("price", False), ("die", True)]
    assert "ended before it answered" in found[1].error


async def test_hosts_that_keep_transcripts_are_not_recorded(shop: Path) -> None:
    info = Implementation(name="claude-code", version="2")
    async with Client(
        through(shop, LIGHT), client_info=info, read_timeout_seconds=PATIENCE
    ) as client:
        await client.call_tool("price", {"item": "tea"})
    assert not (shop.parent / "memory" / FILE).exists()


async def test_secrets_are_nowhere_on_the_disk(shop: Path) -> None:
    some = [each for each in SECRETS if "\n" not in each[1]]
    says = "\n".join(around.format(secret) for _, secret, around in some)
    async with Client(through(shop, LIGHT, SHOP_SAYS=says)) as client:
        for _, secret, around in some:
            said = around.format(secret)
            await client.call_tool("price", {"item": said, "token": secret})
            await client.call_tool("price", {"item": f"echo {secret}"})
    assert len(uses(shop, 2 * len(some))) == 2 * len(some)
    folder = shop.parent / "memory"
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    for path in files:
        data = path.read_bytes()
        for _, secret, _ in some:
            assert secret.encode() not in data, path


async def test_a_project_and_a_server_with_secrets_in_their_names(tmp_path: Path) -> None:
    secret = "gh" + "p_" + drawn(36)
    shop = tmp_path / f"shop-{secret}"
    shop.mkdir()
    async with Client(through(shop, LIGHT, SHOP_NAME=f"server {secret}")) as client:
        await client.call_tool("price", {"item": "tea"})
    assert len(uses(shop, 1)) == 1
    for path in (shop.parent / "memory").rglob("*"):
        assert not (path.is_file() and secret.encode() in path.read_bytes()), path


# --- byte for byte ---------------------------------------------------------------------------

ECHO = [sys.executable, "-c", "import sys\nwhile d := sys.stdin.buffer.read1(): sys.stdout.buffer.write(d); sys.stdout.flush()"]  # fmt: skip


def passed(
    shop: Path, server: list[str], data: bytes, record: list[str] = LIGHT
) -> tuple[int, bytes, bytes]:
    done = subprocess.run(
        [*record, *server],
        input=data,
        capture_output=True,
        cwd=shop,
        env=environment(shop),
        timeout=PATIENCE,
    )
    return done.returncode, done.stdout, done.stderr


def messages(count: int) -> bytes:
    lines = []
    for number in range(count):
        params = {"name": "price", "arguments": {"item": f"tea {number}"}}
        lines.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def test_whatever_passes_is_unchanged(shop: Path) -> None:
    luck = random.Random(5)
    junk = b"".join(luck.randbytes(luck.randint(0, 3000)) + b"\n" for _ in range(200))
    odd = b'\r\n{"half": \n[]\n[1,{"id":[]}]\nnull\n{"method":"tools/call","id":1}\n{"id":{}}\n' * 3
    huge = b'{"jsonrpc":"2.0","id":9,"result":"' + b"y" * 20_000_000 + b'"}\n'
    data = messages(3) + junk + odd + huge + messages(2) + b"no end of a line \xff\xfe"
    code, said, errors = passed(shop, ECHO, data)
    assert (code, said == data, errors) == (0, True, b"")


def test_it_passes_also_where_nothing_can_be_kept(shop: Path) -> None:
    (shop.parent / "memory").write_text("a file, where a folder should be")
    data = messages(50)
    assert passed(shop, ECHO, data)[:2] == (0, data)


def test_a_killed_recorder_loses_nothing_that_passed(shop: Path) -> None:
    data = messages(20)
    process = subprocess.Popen(
        [*LIGHT, *ECHO],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=shop,
        env=environment(shop),
        start_new_session=True,
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(data)
    process.stdin.flush()
    assert process.stdout.read(len(data)) == data
    time.sleep(0.5)  # what has passed is shown to the recorder in the next moment
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert len(uses(shop, 20, ended=False)) == 20


def test_exit_codes_and_errors_are_the_servers(shop: Path) -> None:
    assert passed(shop, ["/bin/sh", "-c", "echo oops >&2; exit 7"], b"")[::2] == (7, b"oops\n")
    assert passed(shop, ["/bin/sh", "-c", "kill -TERM $$"], b"")[0] == 143
    code, said, errors = passed(shop, ["/no/such/program"], b"", RECORD)
    assert (code, said) == (2, b"") and b"cannot be run" in errors
    # It ends with the server, though somebody holds its output open.
    code, said, _ = passed(shop, ["/bin/sh", "-c", "sleep 9 2>/dev/null & echo said; exit 5"], b"")
    assert (code, said) == (5, b"said\n")


def test_signals_reach_the_server_and_it_outlives_nobody(shop: Path) -> None:
    told = shop / "pid"
    server = ["/bin/sh", "-c", f"trap 'exit 9' TERM; echo $$ > {told}; while :; do sleep 0.1; done"]
    for number, code in ((signal.SIGTERM, 9), (signal.SIGKILL, -9)):
        process = subprocess.Popen(
            [*LIGHT, *server], stdin=subprocess.PIPE, cwd=shop, env=environment(shop)
        )
        end = time.monotonic() + PATIENCE
        while not told.exists() or not told.read_text().strip():
            assert time.monotonic() < end
            time.sleep(0.05)
        child = int(told.read_text())
        process.send_signal(number)
        assert process.wait(PATIENCE) == code
        while _lives(child):
            assert time.monotonic() < end
            time.sleep(0.05)
        told.unlink()


def _lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# --- what is made of it ----------------------------------------------------------------------


def watched(*lines: tuple[str, Any]) -> list[Any]:
    from metamem.service.recording.watching import Watching

    found: list[Any] = []
    clock = iter(range(0, 100_000, 10))
    watching = Watching(found.append, lambda: next(clock))
    for side, line in lines:
        data = line if isinstance(line, bytes) else json.dumps(line).encode()
        watching.asked(data) if side == "client" else watching.answered(data)
    watching.over()
    return found


def call(number: Any, name: str = "price") -> tuple[str, dict[str, Any]]:
    params = {"name": name, "arguments": {"n": 1}}
    return "client", {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def result(number: Any, **more: Any) -> tuple[str, dict[str, Any]]:
    return "server", {"jsonrpc": "2.0", "id": number, "result": {"content": [], **more}}


def test_answers_are_joined_by_the_requests_id() -> None:
    found = watched(
        call(1), call("1"), result("1", structuredContent={"a": 1}), result(1), result(1), result(7)
    )
    begun, ended = found[:2], found[2:]
    assert [half.id for half in begun] == ["1", "2"]
    assert [half.id for half in ended] == ["2", "1"]  # and nothing for what nobody asked
    assert (ended[0].result, ended[0].failed) == ('{"a": 1}', False)


def test_errors_of_the_protocol_requests_of_the_server_and_batches() -> None:
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "bad item"}}
    own = {"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}}
    found = watched(("client", [call(1)[1], call(2)[1]]), ("server", own), ("server", [error]))
    first, second, ended, gone = found
    assert first.group == second.group
    assert (ended.id, ended.failed, ended.error) == ("1", True, "bad item (code: -32602)")
    assert (gone.id, gone.failed) == ("2", True)


def test_what_a_client_gave_up_by_itself_is_no_failure_of_the_tool() -> None:
    gave_up = {"method": "notifications/cancelled", "params": {"requestId": 1, "reason": "Escape"}}
    begun, ended = watched(call(1), ("client", gave_up), result(1))
    whole = begun.joined(ended)
    use = Use(whole.id, whole.tool, whole.arguments, "", whole.error, whole.failed)
    assert came(use) == "refused"


def test_lines_are_made_of_any_pieces_and_the_longest_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from metamem.service.recording import watching

    monkeypatch.setattr(watching, "LONGEST", 10)
    lines = watching.Lines()
    data = b"one\ntwo\n" + b"x" * 50 + b"\nthree\n" + b"y" * 10 + b"\nfour"
    found = [line for n in range(len(data)) for line in lines.feed(data[n : n + 1])]
    assert found == [b"one", b"two", b"three", b"y" * 10]
    assert lines.left_out == 1
    lines.lose()
    assert list(lines.feed(b"th\nfive\n")) == [b"five"]


def test_a_watcher_that_is_slow_holds_up_nobody_and_knows_what_it_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from metamem.service.recording import piping

    monkeypatch.setattr(piping, "MOST", 1000)
    gate = threading.Event()
    seen: list[bytes] = []
    missed: list[str] = []

    def look(side: str, data: bytes) -> None:
        gate.wait(PATIENCE)
        seen.append(data)

    watcher = piping.Watcher(look, missed.append)
    for _ in range(50):
        watcher.show("client", b"z" * 100)
    gate.set()
    while watcher.waiting:
        time.sleep(0.01)
    watcher.show("client", b"after")
    assert watcher.end()
    assert 10 <= len(seen) <= 12 and seen[-1] == b"after"
    assert missed == ["client"]
