"""The report tells how much of what is repeated could be replayed at all, and why the rest cannot."""

import json

import pytest

from metamem.cli.main import run
from metamem.foundry.report import Report, report
from metamem.foundry.telling import as_markdown
from metamem.foundry.tools.redoing import OVER_NETWORK
from metamem.foundry.tools.store import StoredReplays
from metamem.foundry.tools.tool import Case
from metamem.foundry.tools.verdict import Replayed
from metamem.foundry.traces import Traces
from metamem.foundry.workflows import store as workflows
from metamem.service.words import Session, ToolCall, Tree, Turn
from tests.foundry.tools.made import git
from tests.foundry.tools.shop import BEGAN, HOUR, Shop
from tests.foundry.workflows.chores import CHORES, NAMES

NO_TREE = "nobody knows what tree the session began with"
PARTLY = "a part of the tree that the session began with was left out"
LATE = "the tree was looked at when tools had already been used"


def lived(
    shop: Shop, kind: int, *, tree: bool = True, whole: bool = True, late: int = 0, also: str = ""
) -> None:
    """Ten sessions that do a chore, each with the tree that it began with, or without."""
    mine, scope = shop.service.local(), str(shop.site.scope)
    goal, steps = CHORES[kind]
    commit = git(shop.folder, "rev-parse", "HEAD")
    for number, word in enumerate(NAMES):
        session, at = f"c{kind}-{number}", BEGAN + (20 * kind + number) * HOUR
        commands = [step.format(word) for step in (*steps, *([also] if also else []))]
        calls = [
            ToolCall(f"{session}-{n}", "Bash", {"command": text}, "", failed=False, exit_code=0,
                     at=at + n * 1000, prompt="p")
            for n, text in enumerate(commands)
        ]  # fmt: skip
        turn = Turn("user", goal.format(word), "user", at, "p")
        about = Session(session, (turn,), "claude-code", started_at=at, ended_at=at + 60_000)
        if tree:
            began = Tree(str(shop.folder), commit, at=at + late, whole=whole)
            bare = Session(session, (), "claude-code")
            shop.service.keep_tree(shop.service.local_caller(), scope, bare, began)
        mine.ingest(scope, about)
        mine.keep_calls(scope, about, calls)
    shop.now[0] = BEGAN + 100 * HOUR


def told(shop: Shop) -> Report:
    return report(shop.site, since=0, until=shop.now[0])


def test_the_share_that_can_be_replayed_is_told_with_the_reasons_of_the_others(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    lived(shop, 0)
    lived(shop, 1, tree=False)
    lived(shop, 2, whole=False)
    lived(shop, 3, also="rsync -a done/{0}.sql layouts.example:tables")
    shop.foundry.take_in()
    found = told(shop).replayable
    assert (found.workflows, found.of_workflows, found.cases, found.of_cases) == (1, 4, 10, 40)
    assert found.tried == 0
    assert dict(found.why_not) == {NO_TREE: 10, PARTLY: 10, OVER_NETWORK: 10}
    text = as_markdown(told(shop))
    assert "1 of 4 workflows can be replayed, and 10 of their 40 cases (0 were tried)" in text
    place = ["--memory", str(shop.memory), "--scope", str(shop.site.scope)]
    assert run(["foundry", "report", *place, "--json"]) == 0
    given = json.loads(capsys.readouterr().out)["replayable"]
    assert (given["workflows"], given["of_workflows"], given["cases"]) == (1, 4, 10)
    assert [NO_TREE, 10] in given["why_not"]
    assert f"{NO_TREE} (10)" in text and f"{OVER_NETWORK} (10)" in text


def test_a_tree_that_was_looked_at_late_is_told_as_that(shop: Shop) -> None:
    lived(shop, 1, late=1)
    lived(shop, 2, whole=False)
    shop.foundry.take_in()
    assert dict(told(shop).replayable.why_not) == {LATE: 10, PARTLY: 10}


def test_what_was_tried_counts_before_what_the_record_tells(shop: Shop) -> None:
    lived(shop, 0)
    lived(shop, 1, tree=False)
    shop.foundry.take_in()
    scope, traces = shop.site.number, Traces(shop.site.database)
    replays = StoredReplays(shop.site.database, scope)
    with shop.site.database.reading() as execute:
        (kept,) = [k for k in workflows.workflows(execute, scope) if "mirror" in k.workflow.goal]
        first, second = workflows.occurrences(execute, scope, kept.id)[:2]
    for tool, one, equal in (("a", first, None), ("a", second, None), ("b", second, False)):
        trace = traces.trace(scope, one.session)
        assert trace is not None
        replays.keep(tool, Replayed(Case(trace, one).id, equal, "ends otherwise"))
    found = told(shop).replayable
    # One was replayed in the end, though it did not come out equal: that is the tool's doing.
    assert (found.cases, found.of_cases, found.tried) == (9, 20, 2)
    assert dict(found.why_not) == {NO_TREE: 10, "ends otherwise": 1}


def test_where_nothing_is_repeated_nothing_is_told_of_it(shop: Shop) -> None:
    assert told(shop).replayable.of_cases == 0
    assert "can be replayed" not in as_markdown(told(shop))
