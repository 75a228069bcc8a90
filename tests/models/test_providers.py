"""Providers of other packages: named by path or entry point, and used like the built-in ones."""

from pathlib import Path

import pytest

import metamem
from metamem.api import open_home
from metamem.core.chat import Question, Turn, Usage
from metamem.core.errors import UsageError
from metamem.evaluation.jobs import Spec
from metamem.models.config import ModelConfig, load_config
from metamem.models.embedders import open_embedder, served, try_out
from metamem.models.spec import ModelSpec, parse
from tests.cli.conftest import program
from tests.models.endpoint import Endpoint
from tests.models.parrots import Parrot

PARROTS = "tests.models.parrots:Parrots"
ROOT = Path(__file__).parents[2]
POLLY = f"{PARROTS}:polly"
COMPATIBLE = "tests.models.parrots:Compatible"


@pytest.fixture(autouse=True)
def a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARROT_KEY", "cracker")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The folder of an installed package whose entry points name providers."""
    info = tmp_path / "site" / "parrots-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: parrots\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        f"[metamem.providers]\nparrot = {PARROTS}\nlost = no.such.module:Provider\n"
    )
    monkeypatch.syspath_prepend(info.parent)
    return str(info.parent)


def test_a_provider_named_by_its_path_plays_a_role_in_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "metamem.toml"
    config.write_text(f'[model."{POLLY}"]\nwindow = 40000\n')
    monkeypatch.setenv("METAMEM_CONFIG", str(config))
    result = metamem.learn(
        "toy", home=tmp_path, proposer=Spec("llm"), models={"meta": POLLY}, designs=1, batch=1,
        executor=Spec("inline"), control=False, explain=False, confirm=1, confirm_seeds=0,
        shortlist=1, final_repeats=1,
    )  # fmt: skip
    (row,) = result.summary.models
    assert (row.role, row.model) == ("meta", POLLY)
    assert row.money == row.answered >= 3  # its own price, for each answer
    with open_home(tmp_path) as archive:
        (made,) = [p for p in archive.proposals(result.run_id) if p.operator == "llm"]
        assert made.status == "accepted"
        assert "class Rewarded" in archive.design(made.design_id or "").source


def test_its_models_get_their_name_options_and_key() -> None:
    model = ModelConfig(options={POLLY: {"at_once": 3, "extra": {"squawk": "!"}}}).open(POLLY)
    assert isinstance(model, Parrot)
    assert (model.name, model.at_once, model.window) == (POLLY, 3, 20_000)
    assert (model.squawk, model.knows) == ("!", "cracker")


def test_a_missing_key_is_told_by_the_variable_that_it_declares(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PARROT_KEY")
    with pytest.raises(UsageError, match="no key") as caught:
        load_config().open(POLLY)
    assert "PARROT_KEY" in caught.value.hint


def test_names_are_read_as_the_provider_declares() -> None:
    assert parse(f"{POLLY}/low@http://x") == ModelSpec(PARROTS, "polly/low@http://x")
    spec = parse(f"{COMPATIBLE}:m/low@http://127.0.0.1:1/v1")
    assert spec == ModelSpec(COMPATIBLE, "m", "low", "http://127.0.0.1:1/v1")
    assert parse(str(spec)) == spec
    assert parse("scripted:tests.search.scripted:answer").provider == "scripted"


async def test_a_server_of_its_own_is_asked_where_the_provider_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    question = Question((Turn("user", "hi"),), max_tokens=5)
    async with Endpoint() as server:
        monkeypatch.setattr("tests.models.parrots.Compatible.url", server.url)
        model = ModelConfig().open(f"{COMPATIBLE}:m")
        assert (await model.complete(question)).text
        await model.close()
        assert server.tally.requests == 1 and server.tally.keys == {""}  # nobody else's key
    assert model.price(Usage(1, 1)) is None


def test_an_installed_provider_is_listed_and_can_be_tried(installed: str) -> None:
    listed = program("models", env={"PYTHONPATH": f"{installed}:{ROOT}"})
    assert listed.returncode == 0, listed.stderr
    assert "parrot:polly" in listed.stdout and "parrots that talk" in listed.stdout
    assert "cannot be loaded from no.such.module:Provider" in " ".join(listed.stdout.split())
    assert load_config({"meta": ["parrot:polly"]}).open("parrot:polly").window == 20_000


@pytest.mark.parametrize("name", ["parot:polly", "parot:llama3:8b"])
def test_an_unknown_provider_is_answered_with_a_guess_and_the_list(
    installed: str, name: str
) -> None:
    with pytest.raises(UsageError, match="no provider called 'parot'") as caught:
        parse(name)
    assert "did you mean 'parrot'? known: anthropic, local, lost, openai" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no.such.module:Provider:x", "cannot be loaded"),
        ("tests.models.parrots:Nobody:x", "cannot be loaded"),
        ("tests.models.parrots:Parrot:x", "is no provider"),
        ("tests.models.parrots:Unfinished:x", "is no provider"),
        (f"{PARROTS}:", "names no model"),
    ],
)
def test_what_is_no_provider_says_why(name: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse(name)


async def test_one_that_embeds_plays_the_role_embed(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"{COMPATIBLE}:m"
    async with Endpoint() as server:
        monkeypatch.setattr("tests.models.parrots.Compatible.url", server.url)
        dimensions, usage, _ = await try_out(name, "hello")
        assert dimensions > 0 and usage.input > 0 and server.tally.requests == 1
    assert open_embedder(name).fingerprint == name  # for which nobody is asked


def test_one_without_embeddings_is_refused_for_them() -> None:
    with pytest.raises(UsageError, match="cannot embed"):
        served(POLLY)
    assert served("tests.models.parrots:Parrots") is None  # an embedder's path, as it looks
