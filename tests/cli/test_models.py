"""Models on the command line: roles, one test call, costs before a run, and what was spent."""

import asyncio
import json
import threading

import pytest

from tests.models.endpoint import Endpoint

SCRIPTED = ["--model", "scripted:demo"]
SMALL = ["--designs", "1", "--no-control", "-q"]


@pytest.fixture(autouse=True)
def no_models(monkeypatch, tmp_path):
    for role in ("AGENT", "MEMORY", "META", "EMBED"):
        monkeypatch.delenv(f"METAMEM_MODEL_{role}", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def server():
    made, loop = Endpoint(), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(made.__aenter__(), loop).result(10)
    yield made
    asyncio.run_coroutine_threadsafe(made.__aexit__(None, None, None), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)


def test_roles_are_listed_with_what_is_wrong(metamem, monkeypatch):
    monkeypatch.setenv("METAMEM_MODEL_AGENT", "openai:gpt-5-nano/low")
    monkeypatch.setenv("METAMEM_MODEL_META", "scripted:demo")
    rows = {row["role"]: row for row in json.loads(metamem("models", "--json").out)}
    assert set(rows) == {"agent", "memory", "meta", "embed"}
    assert "OPENAI_API_KEY" in rows["agent"]["state"]
    assert rows["meta"]["state"] == "ready" and rows["memory"]["model"] == "none"
    assert "openai:gpt-5-nano/low" in metamem("models").out


def test_one_call_tries_a_model(metamem, server):
    said = json.loads(metamem("models", "test", f"openai:m@{server.url}", "--json").out)
    assert said["usage"]["input"] > 0 and said["money"] is None
    assert server.tally.requests == 1
    assert "answered in" in metamem("models", "test", "scripted:demo").out


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("gpt-5", "names no model"),
        ("openai:gpt-5", "there is no key"),
        ("openai:m@http://127.0.0.1:9/v1", "cannot be reached"),
        ("local:nothing.gguf", "no model file"),
    ],
)
def test_a_model_that_cannot_be_tried_says_why(metamem, name, why):
    said = metamem("models", "test", name)
    assert said.code != 0 and why in said.err and "Traceback" not in said.err


def test_a_run_that_costs_asks_first(metamem, server, tmp_path, monkeypatch):
    home = tmp_path / "home"
    name = f"openai:m@{server.url}"
    common = ["learn", "toy", "--agent", "llm", *SMALL, "--home", str(home)]
    said = metamem(*common, "--model", f"agent={name}")
    assert said.code == 2 and "say --yes" in said.err
    assert "about" in said.err and "calls" in said.err and "price unknown" in said.err
    assert server.tally.requests == 0 and not home.exists()
    said = metamem(*common, "--model", "boss=scripted:demo")
    assert said.code == 2


@pytest.mark.slow
def test_a_run_with_a_model_in_every_role_and_what_it_spent(metamem, tmp_path):
    home = ["--home", str(tmp_path / "home")]
    said = metamem(
        "learn", "toy", "--agent", "llm", "--proposer", "llm", *SCRIPTED, *SMALL, "--json", *home
    )
    assert said.code == 0, said.err
    summary = json.loads(said.out)
    spent = {row["role"]: row for row in summary["models"]}
    assert set(spent) == {"agent", "memory", "meta"}
    assert all(row["answered"] == row["attempts"] > 0 for row in spent.values())
    assert "dynamic_cheatsheet" in {row["name"] for row in summary["tables"]["test"]}
    by_role = json.loads(metamem("models", "spent", "--json", *home).out)
    assert {row["role"]: row["attempts"] for row in by_role} == {
        role: row["attempts"] for role, row in spent.items()
    }
    for by in ("run", "design"):
        assert "scripted:demo" in metamem("models", "spent", "--by", by, *home).out
    report = (tmp_path / "home").glob("**/*.html")
    assert "What models were asked" in next(report).read_text()
    assert metamem("models", "spent", "--by", "moon", *home).code == 2
    assert not any("never asked" in words for words in summary["search"]["warnings"])


@pytest.mark.slow
def test_a_model_that_nobody_asks_is_warned_of(metamem, tmp_path):
    said = metamem(
        "learn", "toy", *SCRIPTED, *SMALL, "--json", "--home", str(tmp_path / "home")
    )  # fmt: skip
    assert said.code == 0, said.err
    warnings = json.loads(said.out)["search"]["warnings"]
    assert "the model of the role agent was never asked" in warnings  # the reader plays toy
    assert "the model of the role meta was never asked" in warnings  # recombine writes
    assert not any("role memory" in words for words in warnings)  # a human design asks it


def test_a_budget_stops_a_run_with_a_word_on_how_to_go_on(metamem, tmp_path):
    home = ["--home", str(tmp_path / "home")]
    said = metamem(
        "learn", "toy", "--agent", "llm", "--run", "mine", *SCRIPTED, *SMALL, *home,
        "--max-tokens", "5000",
    )  # fmt: skip
    assert said.code == 7
    assert "budget" in said.err and "metamem learn --run mine --max-tokens" in said.err
    assert "stopped" in metamem("runs", "list", *home).out


def test_the_agent_needs_a_model_and_says_so(metamem, tmp_path):
    said = metamem("evaluate", "no_memory", "--domain", "toy", "--agent", "llm", "-q",
                   "--home", str(tmp_path / "home"))  # fmt: skip
    assert said.code != 0 and "--model agent=" in said.err
