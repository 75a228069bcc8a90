"""A tool that was made of what somebody had erased goes with it, from wherever it is; others stay."""

from pathlib import Path

import pytest

from metamem.core.ids import content_id
from metamem.foundry.tools import promoting, store
from metamem.foundry.tools.store import Measured
from metamem.foundry.tools.tool import Tool
from metamem.foundry.tools.verdict import Replayed, Verdict
from metamem.service.words import Session, ToolCall
from tests.foundry.tools.made import git
from tests.foundry.tools.shop import Shop, opened

PLANTED = "zanzibar_widget"


def on_disk(folder: Path, word: str) -> list[str]:
    return [p.name for p in folder.rglob("*") if p.is_file() and word.encode() in p.read_bytes()]


def in_history(shop: Shop, word: str) -> bool:
    """Git packs what it keeps: the words are not to be seen in its files."""
    folder = shop.site.repository.folder
    if not folder.exists():
        return False
    objects = git(
        folder, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"
    )
    blobs = [line.split()[0] for line in objects.splitlines() if line.endswith("blob")]
    return any(word in git(folder, "cat-file", "blob", blob) for blob in blobs)


def made_of(shop: Shop, session: str, program: str, name: str) -> str:
    """A tool in use that was written from one session's call."""
    call = ToolCall("1", "Bash", {"command": f"run {name}"}, "ok", failed=False, at=shop.now[0])
    shop.service.local().keep_calls(str(shop.site.scope), Session(session, (), "codex"), [call])
    tool = Tool(name, f"Does {name}.", program, (), "w", "template")
    replays = tuple(Replayed(f"{name}{n}", True, f"{name} was equal") for n in range(24))
    verdict = Verdict(content_id(name), "promoted", f"{name} is fine", tool, replays, 0.82)
    cases = [Measured(session, "1", False, 5, 100, 1000)]
    promoting.enter(shop.site, verdict, cases, at=shop.now[0], known=30)
    shop.foundry.approve(tool.id, by="Ada", folders=[shop.folder])
    return tool.id


@pytest.mark.parametrize("by_person", [False, True])
def test_an_erased_tool_is_found_nowhere(tmp_path: Path, by_person: bool) -> None:
    with opened(tmp_path, sessions=0) as shop:
        tool = made_of(shop, "s1", f"print('{PLANTED}')", PLANTED)
        assert shop.run(PLANTED).worked
        assert on_disk(tmp_path, PLANTED) and in_history(shop, PLANTED)
        person = shop.service.local_caller().who if by_person else ""
        counts = shop.service.local().erase(str(shop.site.scope), "somebody asked", person).counts
        assert counts["tools"] == 1 and counts["tools in use"] == 1 and counts["skills"] == 2
        assert shop.foundry.deployed() == []
        assert not in_history(shop, PLANTED) and on_disk(tmp_path, PLANTED) == []
        assert not any(PLANTED in str(path) for path in tmp_path.rglob("*"))
        last = shop.site.archive.promotions()[-1]
        assert (last.decision, last.decided_by, last.subject.id) == ("undone", "erasure", tool)
        again = shop.service.erasing
        again.finish()  # to erase twice does no harm


def test_what_others_did_stays_in_use_and_its_history_begins_anew(tmp_path: Path) -> None:
    with opened(tmp_path, sessions=0) as shop:
        made_of(shop, "s1", f"print('{PLANTED}')", PLANTED)
        kept = made_of(shop, "s2", "print('gadget')", "gadget")
        database = shop.site.database
        with database.writing() as execute:  # one session is erased, as a person's would be
            execute("DELETE FROM calls WHERE session = 's1'")
            from metamem.core.registry import factory, names

            for name in names("forgetters"):
                factory("forgetters", name)(execute)
        from metamem.service.erasers import PartsEraser

        PartsEraser(shop.memory).erase(shop.site.scope, "somebody", ())
        assert [each.kept.id for each in shop.foundry.deployed()] == [kept]
        assert shop.run("gadget").output == "gadget"
        assert not in_history(shop, PLANTED)
        assert git(shop.site.repository.folder, "log", "--format=%s") == "Keep gadget in use"
        (now,) = shop.foundry.deployed()
        assert now.deployment.commit == git(shop.site.repository.folder, "rev-parse", "HEAD")
        assert [p.parent.name for p in shop.folder.rglob("SKILL.md")] == ["gadget", "gadget"]
        assert shop.foundry.deploy() == []


def test_a_tool_that_waits_does_not_wait_any_more(tmp_path: Path) -> None:
    with opened(tmp_path) as shop:
        tool = shop.tool()
        assert [e.subject.id for e in shop.site.ledger.pending()] == [tool]
        shop.service.local().erase(str(shop.site.scope), "somebody asked")
        assert shop.site.ledger.pending() == []
        with shop.site.database.reading() as execute:
            assert store.tools(execute, shop.site.number) == []
            for table in ("workflows", "workflow_occurrences", "tool_judgements", "foundry_acts"):
                assert execute(f"SELECT COUNT(*) FROM {table}") == [(0,)], table


def test_a_service_without_tools_erases(tmp_path: Path) -> None:
    with opened(tmp_path, sessions=2) as shop:
        assert (
            shop.service.local().erase(str(shop.site.scope), "somebody asked").counts["calls"] == 10
        )
