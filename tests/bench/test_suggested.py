"""Suggestions on the labelled set: where they are relevant, and nowhere else."""

from pathlib import Path

from bench.suggested import measure

from bench import suggested
from metamem.core.access import Scope
from metamem.foundry.failures.advising import Advising
from metamem.service.access.scopes import make_scope
from metamem.service.database import FILE, Database


def test_the_relevant_are_told_what_helps_and_the_others_nothing() -> None:
    found = measure()
    assert found["lessons"]["learned"] >= 9
    for part in found["sets"].values():
        for kind, least in (("failures", 0.8), ("prompts", 0.8)):
            count = part["counts"][kind]
            assert (count["told"], count["wrong lesson"]) == (0, 0), part["wrong"]
            assert count["recall"] >= least, part["wrong"]


def test_where_nothing_was_learned_nothing_is_told(tmp_path: Path) -> None:
    database = Database(tmp_path / FILE)
    with database.writing() as execute:
        make_scope(execute, Scope.parse(str(suggested.SCOPE)))
    adviser = Advising(database, suggested.NEVER)
    for number, (kind, case, _) in enumerate(suggested.settled_on({"uv run pytest"})):
        ask = suggested.failed if kind == "failures" else suggested.prompted
        assert ask(adviser, f"s{number}", case) == ""
    with database.reading() as execute:
        assert execute("SELECT COUNT(*) FROM suggestion_moments") == [(0,)]
    database.close()
