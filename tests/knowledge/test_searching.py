"""What is found, in which order, and what is not."""

import pytest

from metamem.core import registry
from metamem.core.errors import ModelUnavailable, UsageError
from metamem.knowledge import searching
from metamem.knowledge.embedding import embedder_of
from metamem.knowledge.indexing import Indexer
from metamem.knowledge.searching import Index, Wanted, find_all, search_all
from metamem.knowledge.words import parted, question
from tests.knowledge.conftest import write


@pytest.fixture
def index(indexed):
    with Index(indexed, "shop") as opened:
        yield opened


@pytest.mark.parametrize(
    ("name", "terms"),
    [
        ("add_line", ("add", "lin", "addline")),
        ("addLine", ("add", "lin", "addline")),
        ("HTTPServerError", ("http", "serv", "err", "httpservererror")),
        ("parse2json", ("pars", "2", "json", "parse2json")),
        ("x", ("x",)),
    ],
)
def test_identifiers_give_their_words_and_themselves(name, terms):
    found = parted(name)
    assert found[-1] == terms[-1]
    assert question(name).terms == found


def test_humps_and_low_lines_meet(index):
    assert index.search("addLine")[0].name == "Cart.add_line"
    assert index.search("focus_input")[0].name == "SearchBox.focusInput"


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("retry a payment", "retry_payment"),
        ("sum up what is to be paid, with taxes", "Cart.total_price"),
        ("wizard for windows", "Shop > Installing > On Windows"),
        ("on which day do deploys happen", ""),
    ],
)
def test_questions_find_what_they_are_about(index, asked, name):
    assert index.search(asked)[0].name == name


def test_a_hit_says_where_it_is_and_what_it_has_of_the_question(index, shop):
    hit = index.search("retry a payment", limit=1)[0]
    assert (hit.kind, hit.path, hit.line) == ("function", "shop/cart.py", 22)
    assert hit.file == shop.resolve() / "shop/cart.py"
    assert {"retri", "payment"} <= set(hit.matched)
    assert hit.text.startswith("def retry_payment") and 0 <= hit.score <= 1


def test_nothing_rather_than_junk(index):
    assert index.search("zebra quux") == []


def test_a_file_that_changed_since_is_told(index, shop):
    assert not index.search("retry")[0].stale
    write(shop, {"shop/cart.py": "gone"})
    assert index.search("retry")[0].stale


def test_only_what_is_wanted(index):
    assert {h.kind for h in index.search("cart line", wanted=Wanted(("class",)))} == {"class"}
    assert {h.path for h in index.search("input", wanted=Wanted(path="web/*"))} == {"web/search.js"}
    assert {h.language for h in index.search("shop", wanted=Wanted(language="markdown"))} == {
        "markdown"
    }
    with pytest.raises(UsageError, match="no kind called 'klass'"):
        Wanted(("klass",))


@pytest.mark.parametrize("asked", ["", "  \n"])
def test_an_empty_question_is_refused(index, asked):
    with pytest.raises(UsageError, match="empty question"):
        index.search(asked)


@pytest.mark.parametrize("limit", [0, -1, 101])
def test_limits(index, limit):
    with pytest.raises(UsageError):
        index.search("x", limit)


@pytest.mark.parametrize("asked", ['"', "a OR NOT", "%' --", "\0", "🙂", "\udc80", "x" * 5000])
def test_no_question_is_read_as_a_command(index, asked):
    index.search(asked)
    index.find(asked)
    index.show(asked)


def test_meaning_finds_what_no_word_does(shop, store):
    write(shop, {"zoo.py": "def feed_dog(puppy): ...\n"})
    embedder = embedder_of("wordllama")
    Indexer(store, embedder, workers=1).index("shop", [shop])
    with Index(store, "shop") as index:
        assert index.search("food for animals") == []
        assert "feed_dog" in [h.name for h in index.search("food for animals", 5, embedder)]


def test_what_has_none_of_the_words_is_shown_with_a_word_of_that(shop, store):
    write(shop, {"zoo.py": "def feed_dog(puppy): ...\n"})
    embedder = embedder_of("wordllama")
    Indexer(store, embedder, workers=1).index("shop", [shop])
    found, warnings = search_all(store, ["shop"], "food for animals", embedder=embedder)
    assert found and len(warnings) == 1 and "near in meaning at best" in warnings[0]
    assert search_all(store, ["shop"], "feed a dog", embedder=embedder)[1] == []


def test_an_index_of_another_embedder_is_searched_where_wordllama_does_not_work(
    shop, store, monkeypatch
):
    """What compares single words is a help, and nothing that a search waits for."""
    embedder = embedder_of("hashed")
    Indexer(store, embedder, workers=1).index("shop", [shop])
    made = registry.create

    def without(kind, name, **settings):
        if name == "wordllama":
            raise ModelUnavailable("the package wordllama is not installed")
        return made(kind, name, **settings)

    monkeypatch.setattr(registry, "create", without)
    searching._speller.cache_clear()
    try:
        found, warnings = search_all(store, ["shop"], "retry a payment", embedder=embedder)
    finally:
        searching._speller.cache_clear()
    assert found[0].name == "retry_payment" and not warnings


def test_components_by_name_and_what_is_known_of_them(index):
    def names(*asked, **wanted):
        return [hit.name for hit in index.find(*asked, Wanted(**wanted))]

    assert names("add_line") == names("ADD_line") == names("Cart.add_line") == ["Cart.add_line"]
    assert names("*a*", kinds=("class",)) == ["Cart", "SearchBox"]
    assert set(names("*", path="web/*")) >= {"debounceTyping", "SearchBox"}
    assert names("absent") == []


@pytest.mark.parametrize(
    "asked", ["Über_gang", "über_gang", "ÜBER_GANG", "*gang", "Ü*", "ü???_gang", "Cafe.Über_gang"]
)
def test_names_with_any_letters_are_found_in_any_case(shop, store, asked):
    write(shop, {"a.py": "class Cafe:\n    def Über_gang(self): ...\n"})
    Indexer(store, workers=1).index("shop", [shop])
    with Index(store, "shop") as index:
        assert [hit.name for hit in index.find(asked)] == ["Cafe.Über_gang"]


def test_brackets_in_patterns_stand_for_themselves(shop, store):
    write(shop, {"app/[id]/page.py": "def page(): ...\n", "app/d/page.py": "def page(): ...\n"})
    Indexer(store, workers=1).index("shop", [shop])
    with Index(store, "shop") as index:
        (hit,) = index.find("page", Wanted(path="app/[id]/*"))
        assert hit.path == "app/[id]/page.py" and index.find("[p]age") == []
        assert {h.path for h in index.search("page", wanted=Wanted(path="*[id]*"))} == {hit.path}


def test_components_come_in_the_order_of_their_names(shop, indexed, tmp_path):
    text = "class Zoo:\n    def add_line(self): ...\n\n\ndef beta(): ...\n\n\ndef Beta(): ...\n"
    other = write(tmp_path / "other", {"a.py": text})
    Indexer(indexed, workers=1).index("other", [other])

    def names(asked, limit=100):
        found, more = find_all(indexed, ["shop", "other"], asked, limit=limit)
        return [(hit.index, hit.name) for hit in found], more

    assert names("add_line") == ([("shop", "Cart.add_line"), ("other", "Zoo.add_line")], False)
    assert names("add_line", 1) == ([("shop", "Cart.add_line")], True)
    assert names("zoo.add_LINE", 1) == ([("other", "Zoo.add_line")], False)
    assert names("beta") == ([("other", "beta"), ("other", "Beta")], False)
    assert names("Beta", 1) == ([("other", "Beta")], True)


def test_pieces_are_shown_by_number_place_and_name(index):
    (one,) = index.show("retry_payment")
    assert index.show(str(one.id)) == [one]
    assert index.show("shop/cart.py:24") == [one]
    whole = index.show("shop/cart.py")
    assert [piece.line for piece in whole] == sorted(piece.line for piece in whole)
    assert index.show("99999999") == index.show("shop/cart.py:999") == []


@pytest.mark.parametrize("what", ["²", "shop/cart.py:²", "٣", "9" * 40, "shop/cart.py:" + "9" * 40])
def test_what_is_no_number_of_a_piece_is_a_name_that_nothing_goes_by(index, what):
    assert index.show(what) == []


def test_several_indexes_answer_together(shop, indexed, tmp_path):
    other = write(tmp_path / "other", {"pay.py": "def retry_payment_later(): ...\n"})
    Indexer(indexed, workers=1).index("other", [other])
    found, warnings = search_all(indexed, ["shop", "other"], "retry payment")
    assert {hit.index for hit in found[:2]} == {"shop", "other"} and not warnings
