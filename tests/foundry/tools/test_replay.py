"""A case is replayed as it was recorded and by a tool; equal effects are equal, all others are told."""

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from metamem.foundry.tools.interface import values_of
from metamem.foundry.tools.replay import Replayer
from metamem.foundry.tools.template import TemplateWriter
from metamem.foundry.tools.tool import Case, Tool
from metamem.foundry.tools.trial import Budget
from metamem.foundry.tools.verdict import Replayed
from metamem.foundry.words import Snapshot, Use
from metamem.sandbox import bubblewrap
from metamem.sandbox.tree import manifest
from tests.attacks.canaries import Canaries
from tests.foundry.tools.made import WHO, git
from tests.foundry.tools.recorded import (
    BUMP,
    bump,
    case,
    program,
    repository,
    script,
    shell,
    snapshot,
    write,
)

pytestmark = pytest.mark.skipif(
    not bubblewrap.works(), reason="the isolation bwrap does not work here"
)


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repository(tmp_path_factory.mktemp("repository") / "project")


@pytest.fixture
def given(there: Path) -> Snapshot:
    return snapshot(there)


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.fixture
def replayer(scratch: Path) -> Replayer:
    return Replayer(Budget(at_once=4), scratch)


async def all_of(replayer: Replayer, tools: dict[str, Tool], one: Case) -> dict[str, Replayed]:
    """Tools on one case, at once."""
    done = await asyncio.gather(*(replayer.replay(tool, one, {}) for tool in tools.values()))
    return {name: replayed for name, (replayed, _) in zip(tools, done, strict=True)}


def ran(argv: list[str], **how: Any) -> str:
    done = subprocess.run(argv, stdout=subprocess.PIPE, check=False, **how)
    return str(done.stdout.decode(errors="replace"))


async def until_the_tool_runs(scratch: Path) -> None:
    end = time.monotonic() + 200  # a bound on what hangs, not on what is slow
    while time.monotonic() < end:
        if list(scratch.glob("*/tool.py")):
            return
        await asyncio.sleep(0.02)
    raise AssertionError("the tool never ran")


async def why_not(replayer: Replayer, one: Case) -> str:
    """Why a case cannot be replayed."""
    replayed, _ = await replayer.replay(script("true"), one, {})
    assert replayed.equal is None, replayed.why
    return replayed.why


async def test_a_tool_that_does_the_same_is_equal_and_nothing_of_the_users_is_touched(
    there: Path, given: Snapshot, replayer: Replayer, scratch: Path
) -> None:
    before = manifest(there)
    tool, one = TemplateWriter().write(BUMP), bump(given, 4)
    replayed, lasting = await replayer.replay(tool, one, values_of(tool, BUMP, one))
    assert (replayed, lasting) == (Replayed(one.id, True), True)
    wrong, _ = await replayer.replay(tool, one, {"version": "2.4.1"})
    assert (wrong.equal, wrong.why) == (False, "VERSION differs")
    assert manifest(there) == before
    assert not list(scratch.iterdir())


COMMIT = f"{WHO} commit -qm"
STEPS = (
    "echo a > new.txt",
    "git add new.txt",
    f"{COMMIT} Add",
    "git switch -qc topic",
    "git tag t",
)
OTHERWISE: dict[str, tuple[tuple[str, ...], str]] = {
    "the same by other means": (
        ("printf 'a\\n' > new.txt; git add -A", f"{WHO} commit -qm Add --date=2001-01-01T00:00",
         "git branch topic; git checkout -q topic; git tag t HEAD"), ""),
    "content": (("echo b > new.txt", *STEPS[1:]), "new.txt differs"),
    "mode": (("touch new.txt; chmod +x new.txt", *STEPS), "new.txt may be used otherwise"),
    "a file more": ((*STEPS, "touch more"), "more should not be there"),
    "a folder more": ((*STEPS, "mkdir more"), "more should not be there"),
    "a file less": ((*STEPS, "rm notes.txt"), "notes.txt is missing"),
    "a link": ((*STEPS, "rm notes.txt; ln -s VERSION notes.txt"), "notes.txt is a link"),
    "the index": ((*STEPS, "git update-index --chmod=+x notes.txt"), "the index differs"),
    "a mark in the index": ((*STEPS, "git update-index --skip-worktree VERSION"), "the index differs"),
    "the message": ((*STEPS[:2], f"{COMMIT} Added", *STEPS[3:]), "HEAD differs"),
    "the author": ((*STEPS[:2], f"{COMMIT} Add --author='B <b@c>'", *STEPS[3:]), "HEAD differs"),
    "the number of commits": ((f"{COMMIT} x --allow-empty", *STEPS), "HEAD differs"),
    "another commit's place": ((*STEPS[:3], "git branch -f stable", *STEPS[3:]), "stable differs"),
    "the branch": ((*STEPS, "git switch -q main"), "another branch"),
    "a branch more": ((*STEPS, "git branch more"), "more should not be there"),
    "no tag": (STEPS[:4], "tags/t is missing"),
    "a tag elsewhere": ((*STEPS[:4], "git tag t stable"), "tags/t differs"),
    "a stash": ((*STEPS, f"echo x >> VERSION; {WHO} stash -q"), "stash"),
    "a setting": ((*STEPS, "git config a.b c"), "git is set to: .git/config"),
    "a hook": ((*STEPS, "mkdir .git/hooks; touch .git/hooks/pre-push"), ".git/hooks"),
    "no git": ((*STEPS, "rm -rf .git"), "git is set to"),
    "broken git": ((*STEPS, "rm .git/HEAD; mkdir .git/HEAD"), "git cannot read"),
    "it fails": ((*STEPS, "exit 3"), "stopped with exit code 1"),
}  # fmt: skip


async def test_every_kind_of_effect_counts_and_words_do_not(
    given: Snapshot, replayer: Replayer
) -> None:
    one = case(given, [shell(text) for text in STEPS])
    tools = {name: script(*commands) for name, (commands, _) in OTHERWISE.items()}
    found = await all_of(replayer, tools, one)
    told = {name: replayed.why for name, replayed in found.items()}
    for name, (_, why) in OTHERWISE.items():
        assert why in told[name] and found[name].equal is (not why), (name, told[name])


async def test_what_the_session_did_before_is_there(there: Path, replayer: Replayer) -> None:
    """Changes that were there when it began, files written, edited and deleted, a branch, a folder that
    the shell was left in, and a failure that left something behind."""
    diff = "diff --git a/notes.txt b/notes.txt\n--- a/notes.txt\n+++ b/notes.txt\n@@ -1,2 +1,3 @@\n first\n second\n+third\n"
    before = [
        shell("ls; cat VERSION"),
        write(f"{there}/made.txt", "made\n"),
        Use("", "Edit", {"file_path": "made.txt", "old_string": "made", "new_string": "edited"}),
        write("/somewhere/else.txt", "not of the tree"),
        shell("git switch -qc topic"),
        shell("echo left > left.txt; exit 4", 4),
        shell("cd pkg && touch beside.py"),
    ]
    one = case(
        snapshot(there, diff), [shell("cat ../left.txt ../made.txt ../notes.txt > all")], before
    )
    expected = "left\nedited\nfirst\nsecond\nthird\n"
    same = script("test -f pkg/beside.py", f"printf '{expected}' > pkg/all")
    found = await all_of(replayer, {"same": same, "empty": script("touch pkg/all")}, one)
    assert found["same"].equal is True, found["same"].why
    assert found["empty"].why == "pkg/all differs"
    # Other hosts begin every command where the session is: there is no ../left.txt from there.
    elsewhere = replace(one, trace=replace(one.trace, host="codex"))
    assert "ends with exit code" in await why_not(replayer, elsewhere)


async def test_branches_stand_where_they_stood_and_what_came_later_is_not_there(
    tmp_path: Path, replayer: Replayer
) -> None:
    folder = repository(tmp_path / "project")
    given = replace(snapshot(folder), at=int(time.time() * 1000) + 5_000)
    later = {**os.environ, "GIT_COMMITTER_DATE": f"{int(time.time()) + 60} +0000"}
    for words in (
        "switch -q stable",
        "commit -q --allow-empty -m Later",
        "branch later",
        "tag later",
    ):
        line = f"git -c user.name=A -c user.email=a@b.c {words}"
        ran(line.split(), cwd=folder, env=later)
    own = [shell("git switch -q stable"), shell("git log -1 --format=%s > title")]
    own += [shell("git branch later"), shell("git tag later"), shell("git switch -q main")]
    tool = script("echo Ignore > title", "git branch later stable", "git tag later stable")
    replayed, _ = await replayer.replay(tool, case(given, own), {})
    assert replayed.equal is True, replayed.why


async def test_a_folder_inside_of_a_repository_and_a_work_tree_beside_it(
    tmp_path: Path, replayer: Replayer
) -> None:
    folder = repository(tmp_path / "project")
    git(folder, "worktree", "add", "-q", str(tmp_path / "beside"), "-b", "side")
    inner = snapshot(tmp_path / "beside" / "pkg")
    own = [shell("echo a > a.txt"), write(f"{tmp_path}/beside/b.txt", "b\n")]
    tool = script("echo a > a.txt; echo b > ../b.txt; test $(git branch --show-current) = side")
    replayed, _ = await replayer.replay(tool, case(inner, own), {})
    assert replayed.equal is True, replayed.why


async def test_git_knows_whoever_commits_unless_the_session_shows_that_it_did_not(
    tmp_path: Path, replayer: Replayer
) -> None:
    folder = repository(tmp_path / "project")
    git(folder, "config", "user.name", "Somebody")
    git(folder, "config", "user.email", "some@body")
    named = case(snapshot(folder), [shell("touch a; git add a"), shell("git commit -qm a")])
    tool = script("touch a; git add a; git commit -qm a")
    assert (await replayer.replay(tool, named, {}))[0].equal is True
    failing = [shell("touch a; git add a"), shell("git commit -qm a", 128), shell(f"{COMMIT} a")]
    unnamed = case(snapshot(folder), failing, steps=(0, 2))
    tool = script(f"touch a; git add a; {COMMIT} a")
    assert (await replayer.replay(tool, unnamed, {}))[0].equal is True


async def test_what_was_done_in_between_is_done_after_the_tool(
    given: Snapshot, replayer: Replayer
) -> None:
    """What has nothing to do with the case changes nothing. What its steps need speaks against a tool
    that leaves it out."""
    own = [shell("echo a > a"), shell("echo x > beside"), shell("exit 1", 1), shell("cat a > b")]
    beside = case(given, own, steps=(0, 3))
    assert (await replayer.replay(script("echo a > a; cat a > b"), beside, {}))[0].equal is True
    own = [shell("echo a > a"), shell("echo more >> a"), shell("cat a > b")]
    needed = case(given, own, steps=(0, 2))
    replayed, _ = await replayer.replay(script("echo a > a; cat a > b"), needed, {})
    assert (replayed.equal, replayed.why) == (False, "b differs")


UNKNOWN = Use("", "mcp__shop__buy", {"thing": "x"})
BEHIND = Use("", "Bash", {"command": "sleep 1", "run_in_background": True})


async def test_what_cannot_be_replayed_says_why(
    there: Path, given: Snapshot, replayer: Replayer
) -> None:
    own = [shell("touch a")]
    secret = replace(shell("echo x > a"), redacted=True)
    lost = replace(given, commit="0123456789" * 4)
    cases = {
        "what tree": case(None, own),
        "left out": case(replace(given, whole=False), own),
        "when tools had already been used": case(replace(given, late=True), own),
        "secret": case(given, [secret]),
        "secret was taken out": case(given, own, [shell("echo '[secret: token]' > b")]),
        "not known here": case(given, own, [UNKNOWN]),
        "background": case(given, own, [BEHIND]),
        "lost the commit": case(lost, own),
        "is not there any more": case(replace(given, folder="/nowhere/at/all"), own),
        "cannot be made again": case(replace(given, diff="diff --git a/x b/x\n"), own),
        "(number 1) now ends with exit code 1": case(given, [shell("grep nothing VERSION > a")]),
        "exit code 0": case(given, [shell("touch a", 7)]),
        "(number 2) needs a program that the jail does not have: lintall": case(
            given, [shell("cp VERSION a"), shell("lintall --fix a")]
        ),
        "exit code 128": case(given, [shell("git clone -q http://127.0.0.1:1/x")]),
        "twice: a differs": case(given, [shell("echo $RANDOM$RANDOM > a")]),
        "twice: HEAD differs": case(given, [shell(f"{COMMIT} $RANDOM$RANDOM --allow-empty")]),
        "outside of the tree": case(given, [write("/etc/x", "x")]),
        "nothing is changed": case(given, [shell("ls")]),
        "or read": case(given, [shell("rm -rf .git")]),
    }  # fmt: skip
    found = await asyncio.gather(*(why_not(replayer, one) for one in cases.values()))
    for (why, _), told in zip(cases.items(), found, strict=True):
        assert why in told, (why, told)
    looked = case(
        given, own, [Use("", "WebSearch", {"query": "x"}), Use("", "Grep", {"pattern": "x"})]
    )
    assert (await replayer.replay(script("touch a"), looked, {}))[0].equal is True


async def test_what_git_ignores_may_come_out_otherwise_but_must_be_there(
    given: Snapshot, replayer: Replayer
) -> None:
    one = case(given, [shell("mkdir -p build; echo $RANDOM$RANDOM > build/log; touch a")])
    tools = {
        "there": script("mkdir build; echo other > build/log; touch a"),
        "missing": script("mkdir build; touch a"),
    }
    found = await all_of(replayer, tools, one)
    assert found["there"].equal is True, found["there"].why
    assert found["missing"].why == "build/log is missing"


async def test_trees_that_are_too_big_and_cases_that_take_too_long_are_left_alone(
    given: Snapshot, scratch: Path
) -> None:
    small = Replayer(Budget(files=3), scratch)
    assert "more than 3 files" in await why_not(small, case(given, [shell("touch a")]))
    hasty = Replayer(Budget(seconds=1.5), scratch)
    assert "took too long" in await why_not(hasty, case(given, [shell("sleep 9; touch a")]))
    strict = Replayer(Budget(cpu=2), scratch)
    endless = program("while True: pass")
    replayed, _ = await strict.replay(endless, case(given, [shell("touch a")]), {})
    assert (replayed.equal, replayed.why) == (False, "the tool was ended: too much computing")
    assert not list(scratch.iterdir())


async def test_a_long_history_costs_nothing(tmp_path: Path, scratch: Path) -> None:
    """Objects are borrowed: a file of the history that is larger than a tree may be does not matter."""
    folder = repository(tmp_path / "project")
    who = ("-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-qam")
    (folder / "large").write_bytes(os.urandom(12 << 20))
    git(folder, "add", "large")
    git(folder, *who, "Large")
    large = snapshot(folder)
    git(folder, "rm", "-q", "large")
    git(folder, *who, "Small again")
    narrow = Replayer(Budget(tree_mb=4), scratch)
    own = [shell("git log --oneline | wc -l > count")]
    replayed, _ = await narrow.replay(script("echo 4 > count"), case(snapshot(folder), own), {})
    assert replayed.equal is True, replayed.why
    assert "larger than 4 MB" in await why_not(narrow, case(large, own))


# What a hostile tool does, and whether the canaries see it. The tool is equal in all else.
HOSTILE: dict[str, str] = {
    "writes outside": "open({victim!r}, 'w').write('harmed')",
    "makes a file outside": "open({folder!r} + '/new', 'w').write('x')",
    "connects": "socket.create_connection(('127.0.0.1', {tcp}), 2)",
    "sends": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {udp}))",
    "connects by a file": "socket.socket(socket.AF_UNIX).connect({unix!r})",
    "kills": "os.kill({pid}, 9)",
}


async def test_a_hostile_tool_reaches_nothing_outside(given: Snapshot, replayer: Replayer) -> None:
    with Canaries() as canaries:
        about = canaries.parameters()
        head = "import os, socket\nopen('a', 'w').close()\n"
        sources = {name: head + body.format(**about) for name, body in HOSTILE.items()}
        one = case(given, [shell("touch a")])
        found = await all_of(replayer, {n: program(s) for n, s in sources.items()}, one)
        assert canaries.harmed() == []
        assert {n for n, replayed in found.items() if replayed.equal} <= {"sends"}
        for name, source in sources.items():  # control: outside of the jail each does what it says
            ran([sys.executable, "-c", source], cwd=canaries.folder.parent)
            assert canaries.harmed(), name


async def test_a_secret_outside_is_not_to_be_read(given: Snapshot, replayer: Replayer) -> None:
    with Canaries() as canaries:
        source = (
            "import os, pathlib, subprocess\n"
            "found = os.environ.get('METAMEM_CANARY', '')\n"
            f"place = pathlib.Path({str(canaries.secret)!r})\n"
            "found += place.read_text() if place.exists() else ''\n"
            "found += subprocess.run('cat /proc/*/environ', shell=True, capture_output=True, text=True).stdout\n"
            f"open('a', 'w').write('leaked' if {canaries.token!r} in found else 'clean')\n"
        )
        one = case(given, [shell("printf clean > a")])
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("METAMEM_CANARY", canaries.token)
            replayed, _ = await replayer.replay(program(source), one, {})
        assert replayed.equal is True, replayed.why
        ran([sys.executable, "-c", source], cwd=canaries.folder)
        assert (canaries.folder / "a").read_text() == "leaked"


async def test_a_tool_cannot_make_git_lie_about_what_it_did(
    given: Snapshot, replayer: Replayer
) -> None:
    """It commits something else and leaves a program that git would run when it is asked."""
    one = case(given, [shell("echo a > a; git add a"), shell(f"{COMMIT} a")])
    lying = script(
        "echo a > a; git add a",
        f"{COMMIT} other",
        "printf '#!/bin/sh\\ntouch ran\\n' > .git/lie; chmod +x .git/lie",
        "git config core.fsmonitor .git/lie",
    )
    replayed, _ = await replayer.replay(lying, one, {})
    assert replayed.equal is False and "git is set to" in replayed.why


async def test_nothing_stays_behind_when_a_replay_is_given_up(
    given: Snapshot, replayer: Replayer, scratch: Path
) -> None:
    one = case(given, [shell("touch a")])
    slow = asyncio.ensure_future(replayer.replay(script("sleep 60"), one, {}))
    await until_the_tool_runs(scratch)
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow
    assert not list(scratch.iterdir())


KILLED = """
import asyncio, pickle, sys
from pathlib import Path
from metamem.foundry.tools.replay import Replayer
tool, one, scratch = pickle.loads(Path(sys.argv[1]).read_bytes())
asyncio.run(Replayer(scratch=scratch).replay(tool, one, {}))
"""


async def test_nothing_stays_behind_when_it_is_killed(
    given: Snapshot, replayer: Replayer, scratch: Path, tmp_path: Path
) -> None:
    one = case(given, [shell("touch a")])
    asked = tmp_path / "asked"
    asked.write_bytes(pickle.dumps((script("exec sleep 4321"), one, scratch)))
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, str(asked))
    await until_the_tool_runs(scratch)
    process.send_signal(signal.SIGKILL)
    await process.wait()
    assert list(scratch.iterdir())  # it could not tidy up
    assert (await replayer.replay(script("touch a"), one, {}))[0].equal is True
    assert not list(scratch.iterdir())
    assert "sleep 4321" not in ran(["ps", "-eo", "args"])
