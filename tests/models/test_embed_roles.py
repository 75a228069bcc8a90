"""Embedders by role: models behind an API, options that are packages, and names that are neither."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.api import broker_for, running
from metamem.core import extras, registry
from metamem.core.chat import Question, Site, Turn, Usage
from metamem.core.errors import (
    AllowanceSpent,
    EngineFault,
    ModelFault,
    ModelUnavailable,
    UnknownName,
    UsageError,
)
from metamem.core.types import Design
from metamem.evaluation.evaluator import Evaluator
from metamem.evaluation.jobs import Setup, Spec
from metamem.evaluation.rules import Rules
from metamem.models.allowance import Allowance
from metamem.models.broker import ATTEMPTS, Broker
from metamem.models.config import ModelConfig, load_config
from metamem.models.embed_broker import BATCH_BYTES, BATCH_TEXTS, batches, worst_tokens
from metamem.models.embedders import (
    PORTION,
    embed_texts,
    open_embedder,
    options,
    served,
    try_out,
    usable,
)
from metamem.store.sqlite import SqliteArchive
from tests.models.endpoint import MOODS, VECTOR_MOODS, WIDTH, Endpoint, text_tokens, vector

PROBE = "metamem"  # the broker learns from it how long vectors are
KEY = "sk-embed-1234567890"


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[SqliteArchive]:
    with SqliteArchive(tmp_path / "archive.db") as archive:
        yield archive


@asynccontextmanager
async def brokered(
    archive: SqliteArchive,
    server: Endpoint,
    run_id: str = "run",
    allowance: Allowance | None = None,
    **options: Any,
):
    name = f"openai:fake@{server.url}"
    config = ModelConfig(options={name: {"price": {"input": 1.0, "output": 2.0}, **options}})
    broker = Broker(
        archive,
        config.open_roles({"memory": [name]}),
        run_id=run_id,
        allowance=allowance,
        pause=0.001,
        embedding=config.open_embedding(name),
    )
    try:
        yield broker
    finally:
        await broker.close()


def unit(text: str) -> np.ndarray:
    row = np.array(vector(text))
    return (row / np.linalg.norm(row)).astype(np.float32)


def vectors_in(folder: Path) -> set[bytes]:
    with closing(sqlite3.connect(folder / "archive.db")) as connection:
        return {content for (content,) in connection.execute("SELECT content FROM blobs")}


class TestBroker:
    async def test_rows_are_unit_vectors_in_the_order_of_the_texts(
        self, archive: SqliteArchive
    ) -> None:
        texts = ["a cup", "two books", "a cup", " ", "Grüße 世界", "broken \ud800"]
        async with Endpoint() as server, brokered(archive, server) as broker:
            rows = await broker.embed(texts)
        assert rows.shape == (6, WIDTH) and rows.dtype == np.float32
        for text, row in zip(texts, rows, strict=True):
            expected = unit(text.replace("\ud800", "?")) if text.strip() else np.zeros(WIDTH)
            np.testing.assert_array_equal(row, expected)

    async def test_a_text_is_paid_for_once_in_all_designs_runs_and_processes(
        self, archive: SqliteArchive
    ) -> None:
        async with Endpoint() as server:
            async with brokered(archive, server, "first") as broker:
                first = await broker.embed(["a", "b"], "design-1")
                await broker.embed(["b", "c"], "design-2")
            async with brokered(archive, server, "second") as broker:
                assert np.array_equal(await broker.embed(["a", "b"], "design-3"), first)
                assert broker.counts.sent == 0
            assert set(server.tally.texts.values()) == {1}
            assert set(server.tally.texts) == {"a", "b", "c", PROBE}
        spent = {s.design_id: s for s in archive.spending("first")}
        assert {s.role for s in spent.values()} == {"embed"}
        assert spent["design-1"].usage.input == text_tokens("a") * 2 + text_tokens(PROBE)
        assert spent["design-2"].usage.input == text_tokens("c")
        assert sum(s.usage.input for s in spent.values()) == server.tally.input
        assert archive.spending("second") == []

    async def test_a_vector_is_kept_as_the_bytes_of_its_floats(
        self, archive: SqliteArchive, tmp_path: Path
    ) -> None:
        async with Endpoint() as server, brokered(archive, server) as broker:
            await broker.embed(["a cup"])
        stored = vectors_in(tmp_path)
        assert stored == {unit(text).astype("<f4").tobytes() for text in ("a cup", PROBE)}

    async def test_equal_texts_at_the_same_time_are_sent_once(self, archive: SqliteArchive) -> None:
        async with Endpoint() as server, brokered(archive, server) as broker:
            asked = (broker.embed(["a", str(n % 3)], f"design-{n}") for n in range(20))
            rows = await asyncio.gather(*asked)
            assert all(np.array_equal(row[0], unit("a")) for row in rows)
            assert server.tally.texts == dict.fromkeys((PROBE, "a", "0", "1", "2"), 1)

    async def test_batches_are_bounded(self, archive: SqliteArchive) -> None:
        texts = [f"text {n}" for n in range(300)]
        async with (
            Endpoint(keep_bodies=True) as server,
            brokered(archive, server, at_once=2) as broker,
        ):
            rows = await broker.embed(texts)
            sizes = [len(body["input"]) for body in server.tally.bodies]
        assert sorted(sizes) == [45, 128, 128] and server.tally.most_at_once <= 2
        assert np.array_equal(rows, np.stack([unit(text) for text in texts]))

    async def test_a_long_text_is_cut_to_what_fits_the_window(self, archive: SqliteArchive) -> None:
        async with (
            Endpoint(keep_bodies=True) as server,
            brokered(archive, server, window=10) as broker,
        ):
            rows = await broker.embed(["0123456789 and more", "ééééééé"])
            assert server.tally.texts == dict.fromkeys((PROBE, "0123456789", "ééééé"), 1)
            assert np.array_equal(rows[0], unit("0123456789"))

    async def test_nothing_to_embed_still_tells_how_long_vectors_are(
        self, archive: SqliteArchive
    ) -> None:
        async with Endpoint() as server, brokered(archive, server) as broker:
            assert (await broker.embed([])).shape == (0, WIDTH)
            assert not (await broker.embed(["", "\n"])).any()
            assert server.tally.requests == 1

    @pytest.mark.parametrize("mood", [*MOODS, *VECTOR_MOODS])
    async def test_every_fault_is_tried_again_and_never_taken_for_data(
        self, mood: str, archive: SqliteArchive
    ) -> None:
        async with (
            Endpoint(lambda n: mood if n in (1, 2) else "") as server,
            brokered(archive, server, seconds=0.5) as broker,
        ):
            await broker.embed(["first"])
            rows = await broker.embed(["a", "b"], "d")
            assert np.array_equal(rows, np.stack([unit("a"), unit("b")]))
            assert server.tally.requests == 4
        spent = {s.design_id: s for s in archive.spending("run")}["d"]
        assert spent.attempts == 3 and spent.in_flight == 0
        lost = {"slow", "cut", "nonsense", "list", "shape", "huge"}
        assert spent.uncertain == (2 if mood in lost else 0)
        assert spent.failed == (2 if mood in ("429", "500") else 0)
        assert sum(s.usage.input for s in archive.spending("run")) == server.tally.input

    async def test_vectors_that_stay_wrong_are_a_fault(
        self, archive: SqliteArchive, tmp_path: Path
    ) -> None:
        async with Endpoint(lambda n: "nan") as server, brokered(archive, server) as broker:
            with pytest.raises(ModelFault, match="not finite"):
                await broker.embed(["a"])
            assert server.tally.requests == ATTEMPTS
        assert vectors_in(tmp_path) == set()

    async def test_a_model_that_changed_its_length_since_is_a_fault(
        self, archive: SqliteArchive
    ) -> None:
        async with Endpoint(lambda n: "shorter" if n else "") as server:
            async with brokered(archive, server) as broker:
                await broker.embed(["a"])
            async with brokered(archive, server) as broker:  # a new process, the same archive
                with pytest.raises(ModelFault, match=f"length {WIDTH - 1}, not {WIDTH}"):
                    await broker.embed(["b"])

    @pytest.mark.parametrize("limit", [{"tokens": 150}, {"money": 0.0002}])
    async def test_one_budget_for_embeddings_and_questions(
        self, limit: Any, archive: SqliteArchive
    ) -> None:
        async with (
            Endpoint(answer=lambda q: "yes") as server,
            brokered(archive, server, allowance=Allowance(**limit)) as broker,
        ):
            asked = Question((Turn("user", "hello"),), max_tokens=20)
            results = await asyncio.gather(
                *(broker.embed([f"text number {n}"], "d") for n in range(40)),
                *(broker.ask(Site("memory", task=str(n)), asked) for n in range(40)),
                return_exceptions=True,
            )
            assert any(isinstance(result, AllowanceSpent) for result in results)
            spent = archive.spending("run")
            assert sum(s.usage.input for s in spent) == server.tally.input
            assert sum(s.attempts for s in spent) == server.tally.requests
            if "tokens" in limit:
                assert sum(s.usage.total for s in spent) <= limit["tokens"]
            assert sum(s.money for s in spent) <= limit.get("money", 1.0)
        async with Endpoint() as server, brokered(archive, server, "run", Allowance(**limit)) as b:
            with pytest.raises(AllowanceSpent):  # a new process knows what the last one spent
                await b.embed(["x" * 500])
            assert server.tally.requests == 0

    async def test_two_processes_that_embed_the_same_text_agree_on_one_vector(
        self, archive: SqliteArchive, tmp_path: Path
    ) -> None:
        """Servers do not give the same numbers twice; what is stored first counts for both."""
        async with Endpoint(lambda n: "other" if n else "") as server:
            with SqliteArchive(tmp_path / "archive.db") as theirs:
                async with brokered(archive, server) as one, brokered(theirs, server) as other:
                    rows = await asyncio.gather(one.embed(["a"]), other.embed(["a"]))
            assert server.tally.texts["a"] == 2  # each had to ask
        np.testing.assert_array_equal(*rows)

    async def test_what_was_under_way_when_all_ended_is_accounted_for(
        self, archive: SqliteArchive
    ) -> None:
        arrived = asyncio.Event()

        def mood(number: int) -> str:
            arrived.set()
            return "" if number else "slow"

        async with Endpoint(mood) as server:
            async with brokered(archive, server) as broker:
                waiting = asyncio.create_task(broker.embed(["a"]))
                await arrived.wait()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            (spent,) = archive.spending("run")
            assert (spent.uncertain, spent.in_flight) == (1, 0) and spent.reserved > 0
            async with brokered(archive, server) as broker:
                assert np.array_equal((await broker.embed(["a"]))[0], unit("a"))
                assert broker.purse.tokens == spent.reserved + server.tally.input

    async def test_without_a_model_it_says_what_to_do(self, archive: SqliteArchive) -> None:
        with pytest.raises(ModelUnavailable) as caught:
            await Broker(archive, {}).embed(["a"])
        assert "--model embed=" in caught.value.hint


@given(st.lists(st.text(max_size=40) | st.just("é" * 100_000), unique=True, max_size=300))
def test_batches_hold_every_text_once_in_order_and_within_bounds(texts: list[str]) -> None:
    made = list(batches({str(n): text for n, text in enumerate(texts)}))
    assert [text for batch in made for text in batch.values()] == texts
    for batch in made:
        assert 1 <= len(batch) <= BATCH_TEXTS
        assert len(batch) == 1 or sum(map(worst_tokens, batch.values())) <= BATCH_BYTES


# --- a whole evaluation ------------------------------------------------------------------------

DESIGN = Design(
    '''
from metamem.designs import Memory


class Nearest(Memory):
    """What was done for the goal that is nearest in meaning."""

    def __init__(self, tools):
        self.tools = tools
        self.ways = tools.vectors("ways")

    async def update(self, experience):
        if experience.reward > 0:
            await self.ways.add(experience.goal, [step.action for step in experience.steps])
        for step in experience.steps:
            await self.tools.embed([f"{experience.goal}: {step.action}"])

    async def retrieve(self, query):
        found = await self.ways.search(query.goal, 1)
        return "\\n".join(found[0].payload) if found else ""
'''
)


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A config file that gives a price to the embedder of a server."""

    def configure(server: Endpoint, **more: str) -> str:
        name = f"openai:fake-embed@{server.url}"
        lines = [f'[model."{name}"]', "price = { input = 1.0, output = 1.0 }", 'key = "EMBED_KEY"']
        lines += [f"{key} = {value}" for key, value in more.items()]
        (tmp_path / "metamem.toml").write_text("\n".join(lines))
        monkeypatch.setenv("METAMEM_CONFIG", str(tmp_path / "metamem.toml"))
        monkeypatch.setenv("EMBED_KEY", KEY)
        return name

    return configure


async def evaluated(
    archive: SqliteArchive,
    name: str,
    *,
    repeats: int = 1,
    run_id: str = "",
    allowance: Allowance | None = None,
    executor: str = "local",
):
    spec = Spec(executor, {"workers": 2} if executor == "local" else {})
    async with (
        broker_for(archive, {}, run_id, allowance, Spec(name)) as broker,
        running(archive, spec, broker) as pool,
    ):
        setup = Setup(Spec("toy"), Spec("reader"), Spec(name), Rules(repeats=repeats))
        evaluator = Evaluator(archive, pool, setup, run_id=run_id)
        outcome = await evaluator.evaluate(DESIGN, "valid", purpose="test")
        assert outcome.done.error == ""
        return outcome.evaluation


async def test_an_evaluation_in_workers_records_meters_and_resumes_for_nothing(
    archive: SqliteArchive, configured
) -> None:
    async with Endpoint(lambda n: "500" if n == 1 else "") as server:
        name = configured(server)
        first = await evaluated(archive, name)
        assert first.complete and first.reward > 0.5
        assert first.fingerprint.embedder == name
        assert set(server.tally.texts.values()) == {1}  # two workers, twenty updates, one payment
        assert "take the lantern" in server.tally.texts
        spent = archive.spending("")
        assert sum(s.usage.input for s in spent) == server.tally.input > 0
        assert sum(s.attempts for s in spent) == server.tally.requests
        assert sum(s.money for s in spent) == pytest.approx(server.tally.input / 1e6)
        assert {(s.role, s.model) for s in spent} == {("embed", name)}
        assert {s.design_id for s in spent} == {DESIGN.id}

        paid = server.tally.requests
        again = await evaluated(archive, name, repeats=2)  # more cases, the same things to embed
        assert again.complete and server.tally.requests == paid
        assert server.tally.keys == {f"bearer {KEY}"}
    rows = (await evaluated(archive, name, executor="inline")).rows  # the server is gone
    assert rows == first.rows


async def test_a_budget_that_is_too_small_stops_the_evaluation_cleanly(
    archive: SqliteArchive, configured
) -> None:
    async with Endpoint() as server:
        name = configured(server)
        with pytest.raises(AllowanceSpent):
            await evaluated(archive, name, run_id="run", allowance=Allowance(tokens=200))
        (spent,) = archive.spending("run")
        assert spent.usage.input == server.tally.input <= 200 and spent.in_flight == 0
        assert server.tally.requests >= 1
        done = await evaluated(archive, name, run_id="run", allowance=Allowance(tokens=5000))
        assert done.complete and set(server.tally.texts.values()) == {1}


async def test_a_server_that_gives_no_vectors_is_nobodys_score(
    archive: SqliteArchive, configured
) -> None:
    async with Endpoint(lambda n: "401") as server:
        with pytest.raises(EngineFault, match="401") as caught:
            await evaluated(archive, configured(server))
        assert KEY not in str(caught.value)
    assert all(not evaluation.rows for evaluation in archive.evaluations())


async def test_another_embedder_or_other_settings_of_it_are_another_fingerprint(
    archive: SqliteArchive, configured
) -> None:
    async with Endpoint() as server:
        names = ["auto", "hashed", configured(server)]
        prints = {name: open_embedder(name).fingerprint for name in names}
        configured(server, extra="{ dimensions = 8 }")
        prints["dimensions"] = open_embedder(names[2]).fingerprint
        configured(server, window="100")
        prints["window"] = open_embedder(names[2]).fingerprint
    assert len(set(prints.values())) == 5


async def test_no_key_comes_to_lie_in_the_archive(
    archive: SqliteArchive, configured, tmp_path: Path
) -> None:
    async with Endpoint() as server:
        name = configured(server)
        async with broker_for(archive, {}, "", None, Spec(name)) as broker:
            await broker.embed(["a cup"])
        assert server.tally.keys == {f"bearer {KEY}"}
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("archive.db*"))
    assert name.encode() in kept and KEY.encode() not in kept


# --- names -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["anthropic:x", "local:x.gguf", "scripted:demo", "openai:x/low"])
def test_a_model_that_cannot_embed_is_refused_with_the_options(name: str) -> None:
    with pytest.raises(UsageError, match="cannot embed") as caught:
        open_embedder(name)
    assert "wordllama" in caught.value.hint and "openai:NAME" in caught.value.hint


def test_an_unknown_name_is_refused_with_a_guess_and_the_options() -> None:
    with pytest.raises(UnknownName) as caught:
        open_embedder("wordlama")
    assert caught.value.hint == f"did you mean 'wordllama'? known: {options()}"


def test_a_key_is_needed_where_the_model_is_opened_and_not_in_workers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("METAMEM_KEY_FILE", raising=False)
    name = "openai:text-embedding-3-small"
    assert served(name) is not None
    assert open_embedder(name).fingerprint == name
    with pytest.raises(UsageError, match="no key"):
        load_config().open_embedding(name)


def test_the_price_of_openais_own_embedders_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = ModelConfig().open_embedding("openai:text-embedding-3-small")
    assert model.price(Usage(input=1_000_000)) == pytest.approx(0.02)


async def test_without_a_host_that_asks_an_embedder_behind_an_api_says_so() -> None:
    with pytest.raises(ModelUnavailable, match="no way to"):
        await embed_texts(open_embedder("openai:m@http://127.0.0.1:9/v1"), ["a"], "")


async def test_one_text_tells_whether_an_embedder_can_be_used() -> None:
    assert await try_out("hashed", "hello") == (256, Usage(), 0.0)
    async with Endpoint() as server:
        found = await try_out(f"openai:m@{server.url}", "hello")
        assert found == (WIDTH, Usage(input=1), None)
    for mood, why in (("nan", "not finite"), ("401", "401"), ("shape", "no embeddings")):
        async with Endpoint(lambda n, mood=mood: mood) as server:
            with pytest.raises(ModelFault, match=why):
                await try_out(f"openai:m@{server.url}", "hello")


@pytest.mark.parametrize("name", ["openai:m@http://127.0.0.1:9/v1", "hashed"])
def test_an_embedder_that_can_be_used_says_what_it_is(name: str) -> None:
    assert usable(name).startswith(name)


# --- options that are packages -----------------------------------------------------------------

TEXTS = ["put a clean cup on the shelf", "Grüße, 世界 🌍", "ok", "broken \ud800 text", "x" * 9000]


@pytest.fixture(params=["use", "minilm"])
def option(request: pytest.FixtureRequest):
    try:
        return registry.create("embedders", request.param)
    except ModelUnavailable as error:
        pytest.skip(f"{error.message}: {error.hint}")


class TestOptions:
    """The contract of tests/models/test_embedders.py, for what is installed."""

    def test_rows_are_unit_float32_and_the_same_in_any_batch(self, option) -> None:
        rows = option.embed(TEXTS)
        assert rows.shape == (len(TEXTS), option.dimensions) and rows.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
        for row, text in zip(rows, TEXTS, strict=True):
            np.testing.assert_array_equal(row, option.embed([text])[0])

    def test_nothing_to_embed(self, option) -> None:
        assert option.embed([]).shape == (0, option.dimensions)
        assert not option.embed(["", " \n"]).any()
        with pytest.raises(UsageError, match="list of texts"):
            option.embed("not a list")

    def test_a_paraphrase_is_nearer_than_shared_words(self, option) -> None:
        query, near, far = option.embed(
            [
                "Warm the soup on the stove",
                "Heat up the broth in the kitchen",
                "The stove was sold together with a warm coat",
            ]
        )
        assert query @ near > query @ far

    def test_its_name_tells_which_weights_it_has(self, option) -> None:
        assert option.fingerprint.endswith(f"/{option.dimensions}")
        assert open_embedder(option.fingerprint.split("-")[0]).fingerprint == option.fingerprint


@pytest.mark.parametrize("name", ["use", "minilm"])
def test_an_option_that_is_not_installed_says_what_to_install(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda package: None)
    with pytest.raises(ModelUnavailable, match="not installed") as caught:
        open_embedder(name)
    assert caught.value.hint == extras.install(name)


async def test_many_texts_are_embedded_in_portions_that_let_others_have_their_turn() -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(others())
    texts = [f"text {n}" for n in range(3 * PORTION + 1)]
    embedder = open_embedder("hashed")
    rows = await embed_texts(embedder, texts, "")
    beside.cancel()
    assert turns >= 3
    np.testing.assert_array_equal(rows, embedder.embed(texts))
    assert (await embed_texts(embedder, [], "")).shape == (0, 256)
