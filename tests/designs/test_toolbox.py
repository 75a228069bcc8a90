"""The tools of a design: what they find, in what order, and that they survive a copy."""

import asyncio
import base64
import json
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.designs import Hit, Tools
from metamem.designs.toolbox import Table, TextIndex
from tests.designs.embedder import LetterEmbedder


class InProcessHost:
    """Serves tools directly, through the same JSON that crosses the jail's channel."""

    def __init__(self) -> None:
        self.embedder = LetterEmbedder()
        self.asked = 0
        self.logs: list[str] = []

    async def ask(self, tool: str, data: Any) -> Any:
        self.asked += 1
        data = json.loads(json.dumps(data))
        if tool == "llm":
            return dict(data)
        rows = self.embedder.embed(data["texts"])
        return {"dimensions": 26, "vectors": base64.b64encode(rows.tobytes()).decode()}

    def log(self, message: str) -> None:
        self.logs.append(message)


@pytest.fixture
def host() -> InProcessHost:
    return InProcessHost()


@pytest.fixture
def tools(host: InProcessHost) -> Tools:
    return Tools(host, seed=7)


async def test_embed_gives_rows_in_order_and_asks_once_for_each_text(
    tools: Tools, host: InProcessHost
) -> None:
    rows = await tools.embed(["ab", "c", "ab"])
    assert rows.shape == (3, 26) and rows.dtype == np.float32
    np.testing.assert_array_equal(rows[0], rows[2])
    np.testing.assert_allclose(rows[0][:3], [2**-0.5, 2**-0.5, 0])
    await tools.embed(["c", "ab"])
    assert host.embedder.embedded == ["ab", "c"]
    assert (await tools.embed([])).shape == (0, 26)


async def test_embed_refuses_what_is_not_a_list_of_texts(tools: Tools) -> None:
    for wrong in ("text", [1], ["a", None]):
        with pytest.raises(TypeError, match="list of texts"):
            await tools.embed(wrong)  # type: ignore[arg-type]


async def test_vectors_find_by_likeness_above_the_floor(tools: Tools) -> None:
    places = tools.vectors("places")
    await places.add("aaab", payload={"n": 1})
    await places.add("zz")
    await places.add("ab", payload=(2,))
    found = await places.search("aab", k=2)
    assert [hit.text for hit in found] == ["aaab", "ab"]
    assert found[0].payload == {"n": 1} and found[0].score > found[1].score
    assert [hit.text for hit in await places.search("z", floor=0.5)] == ["zz"]
    assert await places.search("a", k=0) == []
    assert await tools.vectors("empty").search("a") == []
    assert len(places) == 3 and tools.vectors("places") is places


async def test_equal_scores_keep_the_order_of_insertion(tools: Tools) -> None:
    vectors, index = tools.vectors(), tools.text_index()
    for number in range(40):
        await vectors.add("abc", payload=number)
        index.add("abc", payload=number)
    assert [hit.payload for hit in await vectors.search("abc", k=40)] == list(range(40))
    assert [hit.payload for hit in index.search("abc", k=40)] == list(range(40))


async def test_removed_vectors_are_not_found_and_the_others_keep_their_rows(tools: Tools) -> None:
    vectors = tools.vectors()
    for text in ("aa", "bb", "cc"):
        await vectors.add(text)
    await vectors.search("a")
    await vectors.add("dd")  # not embedded yet
    assert vectors.remove(lambda hit: hit.text == "bb") == 1
    for letter in "acd":
        assert (await vectors.search(letter, k=1))[0].text == letter * 2
    assert [hit.text for hit in await vectors.search("b", floor=0.1)] == []


async def test_searches_at_the_same_time_see_the_same(tools: Tools) -> None:
    vectors = tools.vectors()
    for text in ("aa", "bb", "cc"):
        await vectors.add(text)
    found = await asyncio.gather(*(vectors.search(letter, k=1) for letter in "abc"))
    assert [hits[0].text for hits in found] == ["aa", "bb", "cc"]


async def test_new_texts_are_embedded_together(tools: Tools, host: InProcessHost) -> None:
    for text in ("aa", "bb", "cc"):
        await tools.vectors("x").add(text)
    await tools.flush()
    assert host.asked == 1


def test_the_text_index_ranks_rare_words_higher_and_long_texts_lower() -> None:
    index = TextIndex()
    index.add("the cup is on the table")
    index.add("the knife is on the table")
    index.add("the knife " + "and so on " * 20)
    assert [hit.text[:9] for hit in index.search("Knife!")] == ["the knife", "the knife"]
    assert index.search("knife table", k=1)[0].text == "the knife is on the table"
    assert index.search("nowhere") == [] and index.search("") == []
    assert index.remove(lambda hit: "table" in hit.text) == 2
    assert len(index) == 1 and index.search("cup") == []


@given(st.lists(st.text(alphabet="ab c", max_size=12), max_size=12), st.text(alphabet="ab c"))
def test_a_text_index_after_removal_is_like_one_built_anew(texts: list[str], query: str) -> None:
    removed, built = TextIndex(), TextIndex()
    for number, text in enumerate(texts):
        removed.add(text, number)
        if number % 2:
            built.add(text, number)
    removed.remove(lambda hit: hit.payload % 2 == 0)
    assert removed.search(query, k=20) == built.search(query, k=20)


def test_a_table_gives_copies_and_numbers_its_rows() -> None:
    table = Table()
    first = table.add(place="sink", count=1)
    second = table.add(place="sink", count=2)
    assert (first, second, len(table)) == (1, 2, 2)
    table.all()[0]["place"] = "changed"
    assert [row["count"] for row in table.where(place="sink")] == [1, 2]
    table.update(first, count=5, new=True)
    assert table.where(new=True) == [{"id": 1, "place": "sink", "count": 5, "new": True}]
    assert table.where(absent=None) == []
    assert table.remove(lambda row: row["count"] == 5) == 1
    assert table.add(place="oven") == 3  # a number is never given twice
    with pytest.raises(KeyError, match="no row 1"):
        table.update(first, count=0)
    with pytest.raises(ValueError, match="given by the table"):
        table.add(id=4)


def test_graphs_are_kept_by_name(tools: Tools) -> None:
    tools.graph("rooms").add_edge("kitchen", "hall", by="door")
    assert tools.graph("rooms")["kitchen"]["hall"] == {"by": "door"}
    assert len(tools.graph("other")) == 0


async def test_the_model_is_asked_through_the_host(tools: Tools) -> None:
    assert await tools.llm.ask("hi", schema={"type": "object"}, system="Be brief.") == {
        "prompt": "hi",
        "schema": {"type": "object"},
        "system": "Be brief.",
    }
    with pytest.raises(TypeError):
        await tools.llm.ask(["hi"])  # type: ignore[arg-type]


def test_luck_comes_from_the_seed(host: InProcessHost) -> None:
    def draw(seed: int) -> list[float]:
        return [Tools(host, seed).rng.random() for _ in range(3)]

    assert draw(1) == draw(1) != draw(2)


async def test_tools_survive_pickling(tools: Tools, host: InProcessHost) -> None:
    await tools.vectors("v").add("abc", payload=1)
    tools.text_index("i").add("word", payload=2)
    tools.table("t").add(x=3)
    tools.graph("g").add_edge(1, 2)
    await tools.flush()
    copy: Tools = pickle.loads(pickle.dumps(tools))
    assert (await copy.vectors("v").search("abc"))[0].payload == 1
    assert copy.text_index("i").search("word") == [Hit(pytest.approx(0.2876820724), "word", 2)]
    assert copy.table("t").all() == [{"id": 1, "x": 3}]
    assert copy.graph("g").has_edge(1, 2)
    assert copy.rng.random() == tools.rng.random()


async def test_a_part_has_stores_apart_and_all_else_in_common(tools: Tools) -> None:
    part = tools.apart("part")
    assert part is tools.apart("part") and part is not tools.apart("another")
    assert part.llm is tools.llm and part.rng is tools.rng
    await tools.vectors("same name").add("a red mug", 1)
    await part.vectors("same name").add("a red mug", "one")
    part.table("rows").add(name="mug")
    await tools.flush()
    assert [hit.payload for hit in await tools.vectors("same name").search("a red mug")] == [1]
    assert [hit.payload for hit in await part.vectors("same name").search("a red mug")] == ["one"]
    assert not len(tools.table("rows")) and len(part.table("rows")) == 1
