"""The git repository of tools, as it is found after a death."""

from pathlib import Path

from metamem.foundry.tools.repository import Repository


def test_one_that_was_stopped_while_it_was_made_has_no_tools_yet(tmp_path: Path) -> None:
    (tmp_path / "tools" / ".git" / "objects").mkdir(parents=True)
    begun = Repository(tmp_path / "tools")
    assert begun.names() == [] and begun.head() == ""
    with begun.alone():
        assert begun.names() == []
