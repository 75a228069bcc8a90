"""A whole run with models in every role, against a server that misbehaves in every way."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from metamem.core.errors import AllowanceSpent
from metamem.store.sqlite import SqliteArchive
from tests.models.endpoint import MOODS, Endpoint

RUN = """
import json, sys
import metamem
from metamem.evaluation.jobs import Spec
from metamem.evaluation.rules import Rules
from metamem.models.allowance import Allowance

home, url, tokens = sys.argv[1], sys.argv[2], int(sys.argv[3])
if __name__ == "__main__":
    name = f"openai:fake@{url}"
    result = metamem.learn(
        "toy", run="r", home=home, agent=Spec("llm"), proposer=Spec("llm"), designs=2, batch=1,
        control=False, racing=False, confirm=1, confirm_seeds=1, shortlist=1, final_repeats=1,
        models={role: name for role in ("agent", "memory", "meta")},
        rules=Rules(max_steps=2), executor=Spec("local", {"workers": 2}),
        allowance=Allowance(tokens=tokens),
    )
    print(json.dumps(result.summary.to_json()["models"]))
"""


@contextmanager
def endpoint(server: Endpoint) -> Iterator[Endpoint]:
    """The server on a loop of its own, so that it goes on while the test waits for a process."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(10)
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def moody(seed: int, share: float) -> Endpoint:
    luck = Random(seed)
    moods = [mood for mood in MOODS if mood != "slow"]  # time-outs are tested with the broker

    def mood(number: int) -> str:
        return luck.choice(moods) if luck.random() < share else ""

    return Endpoint(mood)


def config_for(url: str, folder: Path) -> dict[str, str]:
    file = folder / "metamem.toml"
    file.write_text(f'[model."openai:fake@{url}"]\nseconds = 20\nconstrain = "vllm"\nat_once = 8\n')
    return {**os.environ, "METAMEM_CONFIG": str(file)}


def start(home: Path, url: str, tokens: int = 0) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(home), url, str(tokens)],
        env=config_for(url, home.parent),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def journal(home: Path) -> list[tuple[object, ...]]:
    with SqliteArchive(home / "archive.db") as archive:
        return [
            (p.ordinal, p.design_id, p.parents, p.operator, p.status, p.estimate)
            for p in archive.proposals("r")
        ]


@pytest.mark.slow
def test_a_run_survives_a_bad_server_and_being_killed(tmp_path: Path) -> None:
    """Completes, meters every call exactly, and after kill -9 repeats only what was in flight."""
    with endpoint(moody(1, 0.08)) as server:
        home = tmp_path / "home"
        for wanted in (150, 600):  # killed twice, in the midst of things
            run = start(home, server.url)
            while server.tally.requests < wanted and run.poll() is None:
                threading.Event().wait(0.02)
            os.kill(run.pid, signal.SIGKILL)
            run.communicate(timeout=30)
        run = start(home, server.url)
        said, errors = run.communicate(timeout=250)
        assert run.returncode == 0, errors
        roles = {row["role"] for row in json.loads(said)}
        assert roles == {"agent", "meta"} or roles == {"agent", "memory", "meta"}
        with SqliteArchive(home / "archive.db") as archive:
            spent = archive.spending("r")
            lost = sum(row.in_flight for row in spent)
            # Each sending was entered before it went out, and a kill lets some never go out.
            sent = sum(row.attempts for row in spent)
            assert server.tally.requests <= sent <= server.tally.requests + lost
            # What was answered is on record: nothing but calls in flight was ever sent twice.
            calls = archive.calls()
            answered = sum(row.answered for row in spent)
            assert lost <= 2 * 8 and answered >= len(calls)
            warnings = archive.run("r").summary["search"]["warnings"]
            told = [words for words in warnings if "calls to models were under way" in words]
            # A kill may fall between two calls: then none is lost, and none is told of.
            assert [words.split()[0] for words in told] == ([str(lost)] if lost else [])
            tokens = sum(row.usage.input for row in spent)
            assert server.tally.input - tokens <= 16 * 4000  # the answers that nobody took
    with endpoint(moody(2, 0.0)) as quiet:  # undisturbed, for comparison
        run = start(tmp_path / "other", quiet.url)
        said, errors = run.communicate(timeout=250)
        assert run.returncode == 0, errors
    assert [row[:5] for row in journal(home)] == [row[:5] for row in journal(tmp_path / "other")]


@pytest.mark.slow
def test_a_run_stops_before_its_budget_is_exceeded_and_goes_on_with_more(tmp_path: Path) -> None:
    with endpoint(moody(3, 0.03)) as server:
        home = tmp_path / "home"
        run = start(home, server.url, tokens=60_000)
        _, errors = run.communicate(timeout=200)
        assert run.returncode != 0 and AllowanceSpent.__name__ in errors
        with SqliteArchive(home / "archive.db") as archive:
            total = sum(row.usage.total + row.reserved for row in archive.spending("r"))
            assert 40_000 < total <= 60_000
            assert archive.run("r").state == "stopped"
        before = server.tally.requests
        run = start(home, server.url)
        _, errors = run.communicate(timeout=250)
        assert run.returncode == 0, errors
        with SqliteArchive(home / "archive.db") as archive:
            assert archive.run("r").state == "finished"
            assert sum(row.attempts for row in archive.spending("r")) == server.tally.requests
        assert server.tally.requests > before
