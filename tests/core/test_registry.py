"""Names lead to things; unknown names lead to help."""

import pytest

from metamem.core import registry
from metamem.core.errors import MetamemError, UnknownName
from metamem.designs import library


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
