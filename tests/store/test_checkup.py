"""A file is judged by the components that somebody asks about."""

from dataclasses import replace
from pathlib import Path

from metamem.store import SqliteArchive, check_file
from metamem.store.experiments import EXPERIMENTS
from tests.store.test_schema import NOTES


def test_a_checkup_judges_the_components_it_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    old = replace(NOTES, steps=NOTES.steps[:1])
    SqliteArchive(path, components=[old]).close()
    alone = check_file(path)
    assert (alone.is_older, alone.unjudged) == (False, ("notes",))
    assert "notes" in str(alone)
    both = check_file(path, [EXPERIMENTS, NOTES])
    assert (both.is_older, both.is_newer, both.unjudged) == (True, False, ())
    assert "schema version 1 of notes, brought to 2 when it is next opened" in str(both)
    SqliteArchive(path, components=[NOTES]).close()
    assert not check_file(path, [EXPERIMENTS, NOTES]).is_older
    assert check_file(path, [EXPERIMENTS, old]).is_newer
