"""metamem knowledge, as a user types it."""

import json

import pytest

from tests.cli.conftest import program
from tests.knowledge.conftest import FILES, write


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.setenv("METAMEM_KNOWLEDGE", str(tmp_path / "store"))
    return write(tmp_path / "shop", FILES)


@pytest.fixture
def indexed(shop, metamem):
    said = metamem("knowledge", "index", shop, "--quiet")
    assert said.code == 0, said.err
    return shop


def test_index_search_find_show_list_forget(indexed, metamem):
    found = metamem("knowledge", "search", "retry a payment", "-n", "1")
    assert found.code == 0 and "shop/cart.py:22-27  function retry_payment" in found.out
    listed = metamem("knowledge", "find", "*cart*", "--kind", "class")
    assert "shop/cart.py:6" in listed.out
    shown = metamem("knowledge", "show", "retry_payment")
    assert "the bank did not answer" in shown.out
    assert "shop" in metamem("knowledge", "list").out
    assert metamem("knowledge", "forget", "shop").code == 0
    assert metamem("knowledge", "search", "retry").code == 2


def test_the_same_as_data(indexed, metamem):
    again = metamem("knowledge", "index", "--name", "shop", "--json")
    assert again.json["same"] == len(FILES) and again.err == ""
    (hit,) = metamem("knowledge", "search", "retry payment", "-n", "1", "--json").json
    assert (hit["name"], hit["path"], hit["stale"]) == ("retry_payment", "shop/cart.py", False)
    assert metamem("knowledge", "find", "Cart", "--json").json[0]["kind"] == "class"
    assert metamem("knowledge", "show", "shop/cart.py:24", "--json").json[0]["id"] == hit["id"]
    assert metamem("knowledge", "list", "--json").json[0]["files"] == len(FILES)
    assert metamem("knowledge", "forget", "shop", "--json").json == {"forgotten": "shop"}
    assert metamem("knowledge", "list", "--json").json == []


def test_nothing_found_is_said_and_has_an_exit_code(indexed, metamem):
    said = metamem("knowledge", "search", "zebra quux", "--embedder", "none")
    assert (said.code, said.out) == (1, "") and "nothing" in said.err
    assert metamem("knowledge", "search", "zebra quux", "--embedder", "none", "--json").json == []
    assert metamem("knowledge", "find", "zebra").code == 1


def test_folders_of_one_name_are_not_mixed_up(indexed, metamem, tmp_path):
    other = write(tmp_path / "elsewhere" / "shop", {"a.py": "def other(): ...\n"})
    said = metamem("knowledge", "index", other)
    assert said.code == 2 and str(indexed) in said.err and "--name" in said.err
    assert metamem("knowledge", "index", other, "--name", "second", "-q").code == 0
    both = metamem("knowledge", "search", "other payment", "--json").json
    assert {hit["index"] for hit in both} == {"shop", "second"}


def test_the_index_of_the_folder_worked_in_is_meant(indexed, metamem, tmp_path, monkeypatch):
    other = write(tmp_path / "other", {"a.py": "def retry_payment(): ...\n"})
    metamem("knowledge", "index", other, "-q")
    monkeypatch.chdir(other)
    hits = metamem("knowledge", "search", "retry payment", "--json").json
    assert {hit["index"] for hit in hits} == {"other"}


WRONG = [
    (("index",), "name a folder"),
    (("index", "absent"), "no file or folder"),
    (("index", "--name", "absent"), "no index called 'absent'"),
    (("index", ".", "--name", "../up"), "cannot name an index"),
    (("index", ".", "--embedder", "nonsense"), "no embedder called 'nonsense'"),
    (("search", ""), "empty question"),
    (("search", "x", "--limit", "0"), "from 1 to 100"),
    (("search", "x", "--kind", "klass"), "no kind called 'klass'"),
    (("search", "x", "--language", "klingon"), "no language called 'klingon'"),
    (("search", "x", "--index", "absent"), "no index called 'absent'"),
    (("find", "x", "--limit", "1000"), "from 1 to 100"),
    (("forget", "absent"), "no index called 'absent'"),
]


@pytest.mark.parametrize(("arguments", "told"), WRONG)
def test_what_is_wrong_is_told_in_a_line(indexed, metamem, arguments, told):
    said = metamem("knowledge", *arguments)
    assert said.code == 2 and said.out == ""
    assert told in said.err and "Traceback" not in said.err


@pytest.mark.parametrize("asked", [("search", "qqxyz"), ("find", "no_such"), ("show", "no_such")])
def test_what_is_not_there_is_no_wrong_input(indexed, metamem, asked):
    said = metamem("knowledge", *asked, *(("--embedder", "none") if asked[0] == "search" else ()))
    assert (said.code, said.out) == (1, "") and "Traceback" not in said.err
    assert said.err.startswith(("nothing that is indexed", "no component goes by"))


def test_nothing_is_indexed_yet(shop, metamem):
    for command in (("search", "x"), ("find", "x"), ("show", "x")):
        said = metamem("knowledge", *command)
        assert said.code == 2 and "nothing is indexed" in said.err
    assert "nothing is indexed yet" in metamem("knowledge", "list").out


def test_a_folder_with_nothing_to_index_is_an_error(shop, metamem, tmp_path):
    (tmp_path / "empty").mkdir()
    write(tmp_path, {"sec/.netrc": "machine a login b password swordfish99\n"})
    for path, told in (("empty", "nothing to index"), ("sec/.netrc", "made to hold secrets")):
        for json_too in ((), ("--json",)):
            said = metamem("knowledge", "index", tmp_path / path, "-q", *json_too)
            assert (said.code, said.out) == (2, "") and told in said.err and "stays" not in said.err
    assert metamem("knowledge", "list", "--json").json == []


def test_an_index_of_what_is_all_gone_is_told_also_beside_data(indexed, metamem):
    for path in FILES:
        (indexed / path).unlink()
    said = metamem("knowledge", "index", "--name", "shop", "--json")
    assert said.code == 0 and said.json["removed"] == len(FILES) and "nothing is left" in said.err


def test_a_line_of_an_ignore_file_that_says_nothing_is_told(shop, metamem):
    write(shop, {".gitignore": "notes.txt\n[a\n"})
    said = metamem("knowledge", "index", shop, "-q")
    assert said.code == 0 and "a line that no path can match: 1 (.gitignore:2)" in said.out
    assert "ignored: 1 (notes.txt)" in said.out


def test_an_index_that_cannot_be_read_keeps_nobody_from_the_others(indexed, metamem, tmp_path):
    other = write(tmp_path / "other", {"b.py": "def beta(): ...\n"})
    assert metamem("knowledge", "index", other, "--quiet").code == 0
    damaged = tmp_path / "store" / "other" / "index.db"
    for beside in damaged.parent.glob("index.db-*"):
        beside.unlink()
    damaged.write_bytes(b"no database")
    said = metamem("knowledge", "search", "retry a payment")
    assert said.code == 0 and "retry_payment" in said.out
    assert "the index other cannot be read" in said.err and "knowledge forget other" in said.err
    said = metamem("knowledge", "search", "retry a payment", "--index", "shop")
    assert said.code == 0 and "retry_payment" in said.out and said.err == ""
    said = metamem("knowledge", "list")
    assert said.code == 0 and "the index other cannot be read" in said.err
    said = metamem("knowledge", "search", "beta", "--index", "other")
    assert said.code == 3 and "knowledge forget other" in said.err
    assert metamem("knowledge", "forget", "other").code == 0


def test_components_of_several_indexes_are_one_list(indexed, metamem, tmp_path):
    other = write(tmp_path / "other", {"a.py": "class Alpha: ...\n\n\nclass Zeta: ...\n"})
    metamem("knowledge", "index", other, "-q")
    said = metamem("knowledge", "find", "*", "--kind", "class", "--limit", "3")
    rows = [line.split() for line in said.out.splitlines()]
    assert rows[0] == ["index", "id", "kind", "name", "where"]
    assert [row[0] + " " + row[3] for row in rows[1:]] == [
        *("other Alpha", "shop Cart", "shop SearchBox")
    ]
    assert "there are more" in said.err
    exact = metamem("knowledge", "find", "Zeta", "--limit", "1")
    assert "index" in exact.out and "there are more" not in exact.err
    one = metamem("knowledge", "find", "*", "--kind", "class", "--index", "other")
    assert one.out.splitlines()[0].split() == ["id", "kind", "name", "where"]


def test_names_in_files_cannot_steer_the_terminal(shop, metamem):
    write(shop, {"evil.py": 'def trap():\n    return "\x1b[2J[red]"\n'})
    metamem("knowledge", "index", shop, "-q")
    said = metamem("knowledge", "show", "trap")
    assert "\x1b[2J" not in said.out and "[red]" in said.out


def test_names_of_files_stay_in_their_line(shop, metamem):
    write(shop, {"one\ntwo\t.py": "def odd_one(): ...\n", "bin\nary.py": "\0\0"})
    told = metamem("knowledge", "index", shop, "-q").out
    assert "(bin\\nary.py)" in told
    for command in ("find", "search", "show"):
        lines = metamem("knowledge", command, "odd_one").out.splitlines()
        assert any("one\\ntwo\\t.py:1" in line for line in lines), lines
    hit = metamem("knowledge", "find", "odd_one", "--json").json[0]
    assert hit["path"] == "one\ntwo\t.py"


def test_progress_is_told_as_a_program(shop, tmp_path):
    said = program("knowledge", "index", shop, env={"METAMEM_KNOWLEDGE": str(tmp_path / "other")})
    assert said.returncode == 0 and "indexing" in said.stderr


def test_what_lies_beside_a_request_must_be_there(indexed, metamem, tmp_path):
    learn = ("learn", "toy", "--designs", "1", "--home", tmp_path / "home")
    said = metamem(*learn, "--proposer", "handoff", "--knowledge", "absent")
    assert said.code == 2 and "no index called 'absent'" in said.err
    said = metamem(*learn, "--knowledge", "shop")
    assert said.code == 2 and "--proposer handoff" in said.err
    said = metamem(*learn, "--proposer", "handoff", "--knowledge", "shop", "--no-hints")
    assert said.code == 2 and "--no-hints" in said.err
    assert not (tmp_path / "home").exists()


def test_the_parts_agree_on_what_json_is(indexed, metamem):
    assert (
        json.loads(metamem("knowledge", "show", "README.md", "--json").out)[0]["kind"] == "section"
    )
