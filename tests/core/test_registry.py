"""Names lead to things; unknown names lead to help."""

import pytest

from metamem.core import registry
from metamem.core.errors import MetamemError, UnknownName
from metamem.designs import library
from metamem.evaluation.jobs import Spec


@pytest.mark.parametrize("kind", sorted(registry.BUILT_IN))
def test_every_built_in_name_can_be_loaded(kind):
    for name in registry.names(kind):
        assert callable(registry.factory(kind, name))


def test_an_unknown_name_is_answered_with_a_guess_and_the_list():
    with pytest.raises(UnknownName, match="alfworld") as caught:
        registry.factory("domains", "alfwrld")
    assert "did you mean 'alfworld'" in caught.value.hint
    assert caught.value.exit_code == 2


def test_a_path_works_as_a_name_and_a_wrong_path_says_why():
    assert registry.create("domains", "metamem.domains.toy:ToyDomain").name == "toy"
    with pytest.raises(MetamemError, match="cannot be loaded"):
        registry.factory("domains", "no.such.module:Thing")


def test_a_file_without_what_of_it_is_told_how_to_say_it(tmp_path):
    with pytest.raises(UnknownName) as caught:
        registry.factory("domains", f"{tmp_path}/mine.py")
    assert f"{tmp_path}/mine.py:NAME" in caught.value.hint


def test_what_is_no_domain_is_refused_where_it_is_made(tmp_path):
    (tmp_path / "mine.py").write_text("class Mine:\n    name = 'mine'\n")
    with pytest.raises(MetamemError, match="is no domain: it has no 'kind'") as caught:
        registry.create("domains", f"{tmp_path}/mine.py:Mine")
    assert "adding-a-domain" in caught.value.hint


def test_a_file_works_as_a_name_wherever_it_is(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "from dataclasses import dataclass\n"
        "from metamem.domains.toy import ToyDomain\n"
        "@dataclass\nclass Note:\n    text: 'str'\n"
        "class Mine(ToyDomain):\n    name = 'mine'\n"
    )
    made = registry.create("domains", f"{tmp_path}/mine.py:Mine")
    assert made.name == "mine"
    monkeypatch.chdir(tmp_path)
    assert registry.factory("domains", "mine.py:Mine") is type(made)  # loaded once
    assert registry.settled("mine.py:Mine") == f"{tmp_path}/mine.py:Mine"
    assert Spec("mine.py:Mine").name == f"{tmp_path}/mine.py:Mine"
    for name in ("toy", "metamem.domains.toy:ToyDomain", "openai:small@http://host/v1", ""):
        assert Spec(name).name == name
        assert registry.portable(name) == name
    assert registry.plain(f"{tmp_path}/mine.py:Mine") == "Mine"
    assert registry.portable(f"{tmp_path}/mine.py:Mine") == "mine.py:Mine"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (None, "there is no file"),
        ("1 +", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError"),
        ("import no_such_thing", "no_such_thing"),
        ("", "has no attribute 'Mine'"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path, source, said):
    if source is not None:
        (tmp_path / "bad.py").write_text(source)
    for _ in range(2):  # nothing of it is left over
        with pytest.raises(MetamemError, match=said):
            registry.factory("domains", f"{tmp_path}/bad.py:Mine")


def test_wrong_settings_are_named():
    with pytest.raises(MetamemError, match="colour"):
        registry.create("domains", "toy", colour="red")


def test_plug_ins_come_in_through_entry_points(tmp_path, monkeypatch):
    (tmp_path / "plugged.py").write_text("from metamem.domains.toy import ToyDomain as Mine\n")
    info = tmp_path / "plugged-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged\nVersion: 1\n")
    (tmp_path / "my_design.py").write_text(library.load("no_memory").source)
    (info / "entry_points.txt").write_text(
        "[metamem.domains]\nmine = plugged:Mine\n[metamem.designs]\nmy_memory = my_design\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert "mine" in registry.names("domains")
    assert registry.create("domains", "mine").name == "toy"
    assert "my_memory" in library.names()
    assert library.load("my_memory").id == library.load("no_memory").id
