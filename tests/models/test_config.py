"""Names of models, keys, prices, and where each is said."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.core.chat import Question, Site, Turn, Usage
from metamem.core.errors import DataError, MetamemError, ModelFault, UsageError
from metamem.models.broker import Broker
from metamem.models.config import ModelConfig, load_config, role_flags
from metamem.models.keys import Key, find_key
from metamem.models.prices import price_of
from metamem.models.spec import EFFORTS, ModelOptions, ModelSpec, Price, parse
from metamem.store.sqlite import SqliteArchive
from tests.models.endpoint import Endpoint

SECRET = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith(("METAMEM_MODEL", "METAMEM_CONFIG", "OPENAI", "ANTHROPIC")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("openai:gpt-5-nano/low", ModelSpec("openai", "gpt-5-nano", "low")),
        ("openai:gpt-5-nano", ModelSpec("openai", "gpt-5-nano")),
        ("anthropic:claude-x/high", ModelSpec("anthropic", "claude-x", "high")),
        ("local:/models/a b.gguf", ModelSpec("local", "/models/a b.gguf")),
        (
            "openai:Qwen/Qwen3-1.7B@http://127.0.0.1:8000/v1",
            ModelSpec("openai", "Qwen/Qwen3-1.7B", "", "http://127.0.0.1:8000/v1"),
        ),
    ],
)
def test_names_are_read(text: str, spec: ModelSpec) -> None:
    assert parse(text) == spec
    assert parse(str(spec)) == spec


@pytest.mark.parametrize("text", ["", "gpt-5", "openai:", "nobody:x", "openai:/low", "openai:x@y"])
def test_what_names_no_model_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert "openai:gpt-5-nano/low" in caught.value.hint


@given(st.text(max_size=40))
def test_any_text_is_a_model_or_a_clear_error(text: str) -> None:
    with suppress(UsageError):
        assert parse(str(parse(text))) == parse(text)


def test_flags_beat_the_environment_which_beats_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("metamem.toml").write_text(
        '[models]\nagent = "openai:a"\nmemory = "openai:b"\nmeta = ["openai:c", "openai:d"]\n'
        'key_file = "keys"\n[model."openai:a"]\nwindow = 1000\n'
    )
    monkeypatch.setenv("METAMEM_MODEL_MEMORY", "openai:env")
    config = load_config({"agent": ["openai:flag"]})
    assert config.roles == {
        "agent": ("openai:flag",),
        "memory": ("openai:env",),
        "meta": ("openai:c", "openai:d"),
    }
    assert config.key_file == "keys" and config.options["openai:a"] == {"window": 1000}


@pytest.mark.parametrize(
    "text", ["[models", "models = 3", '[models]\nagent = ""', "[models]\nagent = [1]", "\x00"]
)
def test_a_config_file_that_makes_no_sense_is_refused(text: str) -> None:
    Path("metamem.toml").write_text(text)
    with pytest.raises((DataError, UsageError)):
        load_config()


def test_unknown_roles_and_settings_are_refused() -> None:
    with pytest.raises(UsageError, match="no role 'boss'"):
        load_config({"boss": ["openai:x"]})
    with pytest.raises(UsageError, match="takes one model"):
        load_config({"agent": ["openai:x", "openai:y"]})
    with pytest.raises(UsageError, match="no setting 'windows'"):
        ModelConfig(options={"scripted:demo": {"windows": 1}}).open("scripted:demo")
    for bad in ({"at_once": 0}, {"seconds": -1}, {"constrain": "magic"}, {"price": {"input": -1}}):
        with pytest.raises(UsageError):
            ModelOptions.from_json(bad, "a model")


def test_flags_name_roles_or_all_of_them() -> None:
    assert role_flags(["agent=openai:a", "meta=openai:b", "meta=openai:c"]) == {
        "agent": ["openai:a"],
        "meta": ["openai:b", "openai:c"],
    }
    for wrong, guess in (("mem", "memory"), ("me", "meta or memory"), ("agnet", "agent")):
        with pytest.raises(UsageError, match=f"no role '{wrong}'") as refused:
            role_flags([f"{wrong}=openai:a"])
        assert f"did you mean {guess}? known: meta, agent" in refused.value.hint
    assert role_flags(["openai:a@http://127.0.0.1:1/?b=c"])["meta"] == [
        "openai:a@http://127.0.0.1:1/?b=c"
    ]
    assert role_flags(["scripted:demo"]) == {
        role: ["scripted:demo"] for role in ("meta", "agent", "memory")
    }


def test_keys_come_from_the_environment_or_a_private_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spec = parse("openai:gpt-5")
    with pytest.raises(UsageError) as caught:
        find_key(spec)
    assert "OPENAI_API_KEY" in caught.value.hint
    file = tmp_path / "keys"
    file.write_text(f"# mine\nOPENAI_API_KEY={SECRET}\n")
    file.chmod(0o644)
    with pytest.raises(UsageError, match="read by others"):
        find_key(spec, key_file=str(file))
    file.chmod(0o600)
    key = find_key(spec, key_file=str(file))
    assert key.reveal() == SECRET and SECRET not in repr(key) and SECRET not in f"{key}"
    monkeypatch.setenv("OPENAI_API_KEY", "from the environment")
    assert find_key(spec, key_file=str(file)).reveal() == "from the environment"


def test_a_providers_key_goes_to_no_other_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    elsewhere = parse("openai:m@http://127.0.0.1:1/v1")
    assert find_key(elsewhere).reveal() == ""
    assert find_key(elsewhere, "OPENAI_API_KEY").reveal() == SECRET  # where that is asked for


async def test_a_key_is_sent_but_never_shown_or_stored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    async with Endpoint(lambda n: "401" if n else "") as server:
        name = f"openai:m@{server.url}"
        model = ModelConfig(options={name: {"key": "MY_KEY"}}).open(name)
        with SqliteArchive(tmp_path / "archive.db") as archive:
            broker = Broker(archive, {"agent": [model]}, run_id="r")
            await broker.ask(Site("agent"), Question((Turn("user", "hi"),)))
            with pytest.raises(ModelFault) as caught:
                await broker.ask(Site("agent", task="t"), Question((Turn("user", "hi"),)))
            await broker.close()
        assert server.tally.keys == {f"bearer {SECRET}"}  # the server saw it
        assert "401" in str(caught.value) and SECRET not in str(caught.value)
    for file in tmp_path.iterdir():
        assert SECRET.encode() not in file.read_bytes()


@pytest.mark.parametrize(
    ("name", "usage", "dollars"),
    [
        ("openai:gpt-5-nano", Usage(1_000_000, 0), 0.05),
        ("openai:gpt-5-nano", Usage(1_000_000, 0, cached=1_000_000), 0.005),
        ("openai:gpt-5-nano", Usage(0, 1_000_000), 0.4),
        ("openai:nobody-knows-this", Usage(5, 5), None),
        ("openai:gpt-5-nano@http://127.0.0.1:1/v1", Usage(5, 5), None),
    ],
)
def test_prices_are_known_without_a_network(name: str, usage: Usage, dollars: Any) -> None:
    assert price_of(usage, parse(name), None) == (
        None if dollars is None else pytest.approx(dollars)
    )


def test_what_runs_here_costs_nothing() -> None:
    assert ModelConfig().open("scripted:demo").price(Usage(5, 5)) == 0.0


def test_a_price_of_ones_own_counts() -> None:
    price = Price(input=2.0, output=8.0, cached=0.5)
    usage = Usage(input=1000, output=100, cached=400)
    assert price_of(usage, parse("openai:m@http://127.0.0.1:1/v1"), price) == pytest.approx(
        (600 * 2.0 + 400 * 0.5 + 100 * 8.0) / 1e6
    )


def test_efforts_are_part_of_a_name() -> None:
    for effort in EFFORTS:
        assert parse(f"openai:m/{effort}").effort == effort
    assert parse("openai:org/name").name == "org/name"


def test_a_missing_model_file_and_function_are_clear() -> None:
    for name in ("local:nowhere.gguf", "scripted:nowhere:f", "scripted:metamem.models:nothing"):
        with pytest.raises(MetamemError):
            ModelConfig().open(name)


def test_a_key_hides_itself_in_what_others_say() -> None:
    assert Key(SECRET).hide_in(f"wrong key {SECRET}!") == "wrong key ***!"
    assert Key("").hide_in("nothing") == "nothing"
