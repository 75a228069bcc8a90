"""From the ledger to what is in use: nothing without a person, everything undone again, nothing twice."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from metamem.core.errors import UsageError
from metamem.foundry.acts import acts
from metamem.foundry.tools import deploying, deployments, store
from metamem.foundry.tools.deploying import WATCH, settle, verify
from metamem.foundry.tools.repository import Change, Repository
from metamem.foundry.tools.site import opened_site
from tests.foundry.tools.made import git
from tests.foundry.tools.shop import Shop, opened

ONE = "print('one')\n"
TWO = "print('two')\n"


def program_of(shop: Shop, name: str = "planted") -> str | None:
    return shop.site.repository.program(name)


def history(shop: Shop) -> list[str]:
    folder = shop.site.repository.folder
    return git(folder, "log", "--format=%s", "--reverse").splitlines() if folder.exists() else []


def skills(shop: Shop) -> list[str]:
    found = [*shop.folder.rglob("SKILL.md")]
    return sorted(str(path.relative_to(shop.folder)) for path in found)


def test_nothing_is_deployed_before_a_person_approves(shop: Shop) -> None:
    tool = shop.offer(ONE)
    for _ in range(2):
        assert shop.foundry.deploy() == [] and shop.names() == []
        shop.foundry.watch()
    assert history(shop) == [] and skills(shop) == []
    for automaton in ("auto:gate", WATCH):
        with pytest.raises(UsageError, match="waits for a person"):
            shop.foundry.approve(tool, by=automaton)
    assert shop.names() == []
    (done,) = shop.foundry.approve(tool, by="Ada", folders=[shop.folder])
    assert (done.what, done.name, shop.names()) == ("deployed", "planted", ["planted"])


def test_what_is_rejected_is_never_deployed(shop: Shop) -> None:
    tool = shop.offer(ONE)
    with shop.site.database.reading() as execute:
        slot = store.tool_of(execute, shop.site.number, tool).slot
    shop.site.ledger.reject(
        deploying.subject_of(slot, tool), shop.site.place, by="Ada", reason="no"
    )
    assert shop.foundry.deploy() == [] and shop.names() == []
    with shop.site.database.reading() as execute:
        assert store.tool_of(execute, shop.site.number, tool).state == "rejected"


def test_each_deployment_and_each_undo_is_a_commit(shop: Shop) -> None:
    first = shop.plant(ONE)
    assert program_of(shop) == ONE and history(shop) == ["Deploy planted"]
    message = git(shop.site.repository.folder, "log", "-1", "--format=%B")
    assert (
        first in message and "w-planted" in message and "lower 0.82" in message and "Ada" in message
    )
    second = shop.plant(TWO)
    assert program_of(shop) == TWO and history(shop) == ["Deploy planted"] * 2
    assert [each.kept.id for each in shop.foundry.deployed()] == [second]
    (gone, back) = shop.foundry.undo(second, by="Bo", reason="slow")
    assert (gone.what, back.what) == ("withdrawn", "deployed")
    assert program_of(shop) == ONE and [d.kept.id for d in shop.foundry.deployed()] == [first]
    (gone,) = shop.foundry.undo(first, by="Bo", reason="slow, too")
    assert program_of(shop) is None and shop.names() == []
    assert history(shop) == ["Deploy planted"] * 2 + ["Restore planted", "Withdraw planted"]
    assert git(shop.site.repository.folder, "status", "--porcelain") == ""
    with shop.site.database.reading() as execute:
        rows = deployments.deployments(execute, shop.site.number)
        assert [(d.tool, d.why) for d in rows] == [
            (first, f"{second[:8]} in its place"), (second, "slow"), (first, "slow, too")]  # fmt: skip
        assert all(d.commit and d.ended_at for d in rows)
        did = [each.what for each in acts(execute, shop.site.number) if each.subject == second]
        assert did == ["promoted", "deployed", "withdrawn"]


def test_skills_come_and_go_with_the_tool(shop: Shop) -> None:
    other = shop.folder / ".claude/skills/planted/SKILL.md"
    other.parent.mkdir(parents=True)
    other.write_text("mine")
    tool = shop.plant(ONE)
    assert skills(shop) == [".agents/skills/planted/SKILL.md", ".claude/skills/planted/SKILL.md"]
    text = (shop.folder / ".agents/skills/planted/SKILL.md").read_text()
    assert (
        text.startswith('---\nname: "planted"\ndescription: "In one call: Does planted.')
        and tool in text
    )
    assert "metamem tool planted" in text
    assert other.read_text() == "mine"  # somebody else's
    assert (
        git(shop.folder, "status", "--porcelain", "--", ".agents") == ""
    )  # no commit takes it along
    before = (shop.folder / ".git/info/exclude").read_text()
    shop.foundry.undo(tool, by="Ada", reason="x")
    assert skills(shop) == [".claude/skills/planted/SKILL.md"] and other.read_text() == "mine"
    assert not (shop.folder / ".agents").exists()
    assert "/.agents/skills/planted/" in before
    assert "/.agents/skills/planted/" not in (shop.folder / ".git/info/exclude").read_text()


def test_a_skill_that_was_changed_is_left_alone_and_links_are_not_followed(
    shop: Shop, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (shop.folder / ".agents").symlink_to(outside)
    tool = shop.plant(ONE)
    assert list(outside.iterdir()) == [] and skills(shop) == [".claude/skills/planted/SKILL.md"]
    mine = shop.folder / ".claude/skills/planted/SKILL.md"
    mine.write_text(mine.read_text() + "and a word of mine\n")
    shop.foundry.undo(tool, by="Ada", reason="x")
    assert mine.read_text().endswith("and a word of mine\n")


def test_settling_again_does_nothing(shop: Shop) -> None:
    shop.plant(ONE)
    before = history(shop), [d.deployment for d in shop.foundry.deployed()]
    for _ in range(3):
        assert shop.foundry.deploy() == []
    assert (history(shop), [d.deployment for d in shop.foundry.deployed()]) == before


def test_a_program_that_was_changed_is_disabled_and_the_one_before_comes_back(shop: Shop) -> None:
    first = shop.plant(ONE)
    second = shop.plant(TWO)
    assert verify(shop.site, at=shop.now[0]) == []  # the control: nothing was changed
    place = shop.site.repository.folder / "planted" / "program.py"
    place.write_text("print('evil')\n")
    (gone, back) = verify(shop.site, at=shop.now[0])
    assert (gone.what, gone.tool, back.tool) == ("disabled", second, first)
    assert place.read_text() == ONE and [d.kept.id for d in shop.foundry.deployed()] == [first]
    last = shop.site.archive.promotions()[-1]
    assert (last.decision, last.decided_by, last.subject.id) == ("undone", WATCH, second)
    place.unlink()
    assert [each.tool for each in verify(shop.site, at=shop.now[0])] == [first]
    assert shop.names() == []


def test_names_do_not_collide(shop: Shop) -> None:
    long = "release_the_whole_wide_world_of_things_with_everything_in_it_abc123"
    shop.plant(ONE, long)
    shop.plant(TWO, long + "_")
    names = shop.names()
    assert len(set(names)) == 2 and all(len(name) <= store.LONGEST for name in names)
    assert all(len(f"mcp__metamem__tool_{name}") <= 64 for name in names)


def test_a_commit_that_is_there_is_not_made_again(tmp_path: Path) -> None:
    made = Repository(tmp_path / "tools")
    with made.alone():
        first = made.commit(Change("a", {"program.py": "1\n"}, "Deploy a"))
        assert made.commit(Change("a", {"program.py": "1\n"}, "Deploy a")) == first
        assert made.commit(Change("b", None, "Withdraw b")) == ""
        (made.folder / "a" / "program.py").write_text("2\n")
        assert made.commit(Change("a", {"program.py": "1\n"}, "Deploy a")) == first
    assert made.program("a") == "1\n" and made.names() == ["a"]
    (made.folder / ".git/refs/heads/main.lock").write_text("")  # of a process that was killed
    with made.alone():
        made.commit(Change("a", None, "Withdraw a"))
    assert made.names() == [] and made.program("a") is None


def test_what_was_stopped_between_a_commit_and_its_files_is_finished(tmp_path: Path) -> None:
    made = Repository(tmp_path / "tools")
    stopped = Repository(tmp_path / "tools")

    def stop(change: Change) -> None:
        raise KeyboardInterrupt

    stopped._put = stop  # type: ignore[method-assign]
    for files in ({"program.py": "1\n"}, {"program.py": "2\n"}, None):
        with suppress(KeyboardInterrupt), stopped.alone():
            stopped.commit(Change("a", files, "Change a"))
        assert made.unfinished()
        with made.alone():
            pass
        assert not made.unfinished()
        assert made.program("a") == (files["program.py"] if files else None)
        assert git(made.folder, "status", "--porcelain") == ""


KILLED = """
import sys, time
from pathlib import Path
from metamem.foundry.tools.deploying import settle
from metamem.foundry.tools.site import opened_site
with opened_site(Path(sys.argv[1]), sys.argv[2]) as site:
    print("ready", flush=True)
    sys.stdin.readline()
    settle(site, at=int(sys.argv[3]), folders=[Path(sys.argv[4])])
"""


def _killed(shop: Shop, at: int, after: float) -> bool:
    """Settle in a process of its own, which is killed after so many seconds; whether that was in time."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        with suppress(BaseException), opened_site(shop.memory, shop.site.scope) as site:
            os.write(writes, b"r")
            settle(site, at=at, folders=[shop.folder])
        os._exit(0)
    os.read(reads, 1)
    os.close(reads)
    os.close(writes)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.mark.slow
def test_kill_9_in_the_middle_of_a_deployment_leaves_nothing_half_or_double(tmp_path: Path) -> None:
    """At some thirty moments of deploying, swapping and withdrawing; then it is gone on with."""
    with opened(tmp_path, sessions=0) as shop:
        killed, pace = 0, 1.0
        for number in count():
            if number >= 30 and killed >= 10:
                break
            assert number < 200  # it cannot be that all of them are too quick
            kind = number % 3
            if kind == 0:  # a first version goes into use
                shop.offer(ONE)
                about = shop.site.ledger.pending()[-1].subject
                shop.site.ledger.approve(about, shop.site.place, by="Ada")
                wanted: str | None = ONE
            elif kind == 1:  # a second takes its place
                shop.offer(TWO)
                about = shop.site.ledger.pending()[-1].subject
                shop.site.ledger.approve(about, shop.site.place, by="Ada")
                wanted = TWO
            else:  # both go
                for entry in list(shop.site.ledger.all_standing()[0].applied):
                    shop.site.ledger.undo(entry.subject, shop.site.place, by="Ada", reason="x")
                wanted = None
            before = len(history(shop))
            in_time = _killed(shop, number, after=pace * (0.004 + 0.009 * (number % 10)))
            killed += in_time
            # On a busy machine a short sleep may last until everything is done.
            pace = pace if in_time else 0.9 * pace
            settle(shop.site, at=number, folders=[shop.folder])
            assert program_of(shop) == wanted
            assert settle(shop.site, at=number, folders=[shop.folder]) == []
            assert len(history(shop)[before:]) == 1  # one commit, whoever made it
            in_use = shop.foundry.deployed()
            assert [each.kept.tool.program for each in in_use] == ([wanted] if wanted else [])
            assert all(d.deployment.commit == git(shop.site.repository.folder, "rev-parse", "HEAD") for d in in_use)  # fmt: skip
            assert len(skills(shop)) == (2 if wanted else 0)
            assert git(shop.site.repository.folder, "status", "--porcelain") == ""
        git(shop.site.repository.folder, "fsck", "--strict")


def test_two_who_settle_at_once_do_it_once(tmp_path: Path) -> None:
    with opened(tmp_path, sessions=0) as shop:
        shop.offer(ONE)
        about = shop.site.ledger.pending()[-1].subject
        shop.site.ledger.approve(about, shop.site.place, by="Ada")
        arguments = [str(shop.memory), str(shop.site.scope), "1", str(shop.folder)]
        both = [
            subprocess.Popen([sys.executable, "-c", KILLED, *arguments],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for _ in range(2)
        ]  # fmt: skip
        for process in both:
            assert process.stdout is not None
            process.stdout.readline()
        for process in both:
            process.communicate(b"\n")
        assert [process.returncode for process in both] == [0, 0]
        assert history(shop) == ["Deploy planted"]
        with shop.site.database.reading() as execute:
            assert len(deployments.deployments(execute, shop.site.number)) == 1


def test_a_site_of_its_own_sees_the_same(shop: Shop) -> None:
    tool = shop.plant(ONE)
    with opened_site(shop.memory, shop.site.scope) as site, site.database.reading() as execute:
        assert [d.kept.id for d in deployments.deployed(execute, site.number)] == [tool]
