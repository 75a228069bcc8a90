"""A deployed tool runs in the jail, on its own project's tree, and nowhere else. Each attack has its control."""

import asyncio
import json
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from metamem.core.errors import Denied, UnknownName, UsageError
from metamem.foundry.acts import acts
from metamem.foundry.tools import runs
from metamem.foundry.tools.running import Ran, Sabotaged
from metamem.foundry.tools.tool import Given
from metamem.sandbox import bubblewrap
from tests.foundry.tools.made import git, tree
from tests.foundry.tools.shop import Shop

pytestmark = pytest.mark.skipif(
    not bubblewrap.works(), reason="the isolation bwrap does not work here"
)
WRITES = "import json, sys, pathlib; v = json.loads(sys.stdin.read()); pathlib.Path(v['path']).write_text('x')"


def outside_the_jail(program: str, folder: Path, values: dict[str, object]) -> int:
    """The control: what the same program does where nothing holds it."""
    return subprocess.run(
        [sys.executable, "-c", program, "--json", "-"],
        cwd=folder,
        input=json.dumps(values).encode(),
        capture_output=True,
        check=False,
    ).returncode


def recorded(shop: Shop) -> list[runs.Run]:
    slot = shop.foundry.deployed()[0].kept.slot
    with shop.site.database.reading() as execute:
        return runs.runs(execute, shop.site.number, slot)


def test_a_tool_does_its_steps_and_says_how_it_ended(lived: Shop) -> None:
    name = lived.deploy()
    given = lived.foundry.deployed()[0].kept.tool.given
    version, change = (each.name for each in given)
    ran = lived.run(name, **{version: "1.3.0", change: "colour"})
    assert ran.worked and ran.output == "5 steps done" and f"(run {ran.run})" in ran.line
    assert (lived.folder / "VERSION").read_text() == "1.3.0\n"
    assert git(lived.folder, "log", "-1", "--format=%s %an") == "Release 1.3.0 Dev"
    assert git(lived.folder, "tag") == "v1.3.0" and git(lived.folder, "status", "--porcelain") == ""
    refused = lived.run(name, **{version: "../../x", change: "colour"})
    assert refused.exit_code == 2 and git(lived.folder, "tag") == "v1.3.0"
    first, second = recorded(lived)
    assert (first.id, first.worked, first.counted) == (
        ran.run,
        True,
        True,
    ) and first.milliseconds > 0
    assert (second.worked, second.counted) == (
        False,
        False,
    )  # a value that is not taken is no failure


def test_words_of_the_command_line_reach_the_program(shop: Shop) -> None:
    shop.plant("import sys; print(sys.argv[1:]); sys.exit(7)")
    from metamem.foundry.tools.running import run

    words = ["--name", "it's; $(id)", "--json", '{"a": 1}']
    done: Ran = asyncio.run(run(shop.site, "planted", shop.folder, None, words, at=1))
    assert done.exit_code == 7 and done.output == str(words)
    helped = asyncio.run(run(shop.site, "planted", shop.folder, None, ["--help"], at=2))
    assert helped.exit_code == 7
    assert len(recorded(shop)) == 1  # to ask what it takes is no use of it


def test_it_works_in_any_folder_of_the_tree_and_commits_under_the_users_name(shop: Shop) -> None:
    git(shop.folder, "config", "user.name", "Ada")
    git(shop.folder, "config", "user.email", "ada@example.com")
    shop.plant(
        "import subprocess; subprocess.check_call(['git', 'commit', '-q', '--allow-empty', '-m', 'x'])"
    )
    done = asyncio.run(shop.foundry.run("planted", shop.folder / "pkg", {}))
    assert done.worked, done.output
    assert git(shop.folder, "log", "-1", "--format=%an <%ae>") == "Ada <ada@example.com>"


def test_outside_of_its_project_it_is_refused(shop: Shop, tmp_path: Path) -> None:
    shop.plant("print('in')")
    other = tree(tmp_path / "other")
    plain = tmp_path / "plain"
    plain.mkdir()
    for folder in (other, plain, tmp_path, Path("/"), tmp_path / "missing"):
        with pytest.raises(Denied, match="not in a git tree of"):
            asyncio.run(shop.foundry.run("planted", folder, {}))
    assert recorded(shop) == []
    assert shop.run().worked  # the control
    with pytest.raises(UnknownName, match="planted"):
        shop.run("other")


def test_a_further_work_tree_is_refused_in_plain_words(shop: Shop, tmp_path: Path) -> None:
    shop.plant("print('in')")
    git(shop.folder, "worktree", "add", "-q", str(tmp_path / "more"))
    with pytest.raises(UsageError, match="lies outside of it"):
        asyncio.run(shop.foundry.run("planted", tmp_path / "more", {}))


def test_it_cannot_write_outside_of_its_tree(shop: Shop, tmp_path: Path) -> None:
    shop.plant(WRITES, "planted", Given("path", "text"))
    secret = tmp_path / "outside"
    (shop.folder / "link").symlink_to(secret)
    for path in (str(secret), "link", "../outside", str(shop.memory / "x")):
        assert not shop.run(path=path).worked
    assert not secret.exists() and not (shop.memory / "x").exists()
    assert outside_the_jail(WRITES, shop.folder, {"path": str(secret)}) == 0 and secret.exists()
    # Four failures: it is out of use by now, and nobody had to do anything.
    assert shop.names() == []


def test_it_can_write_inside(shop: Shop) -> None:
    shop.plant(WRITES, "planted", Given("path", "text"))
    assert shop.run(path="new.txt").worked and (shop.folder / "new.txt").read_text() == "x"


def test_it_has_no_network(shop: Shop) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        program = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
        shop.plant(program)
        assert not shop.run().worked
        taken = threading.Thread(target=server.accept, daemon=True)
        taken.start()
        assert outside_the_jail(program, shop.folder, {}) == 0
        taken.join(5)
        assert not taken.is_alive()


def test_it_sees_no_secret_of_the_user(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "key").write_text("canary-in-a-file")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CANARY", "canary-in-the-environment")
    program = (
        "import glob, os, pathlib\n"
        f"for name in [{str(home / 'key')!r}, *glob.glob('/proc/*/environ')]:\n"
        "    try:\n        print(pathlib.Path(name).read_bytes())\n    except OSError:\n        pass\n"
        "print(dict(os.environ))\n"
    )
    shop.plant(program)
    said = shop.run().output
    assert "canary" not in said and "HOME" in said
    seen = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "canary-in-a-file" in seen.stdout and "canary-in-the-environment" in seen.stdout


def test_a_secret_of_the_tree_is_taken_out_of_what_it_says(shop: Shop) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    (shop.folder / ".env").write_text(f"GITHUB_TOKEN={token}\n")
    shop.plant("print(open('.env').read())")
    said = shop.run().text()
    assert token not in said and "[secret:" in said
    for path in shop.memory.rglob("*"):
        assert not path.is_file() or token.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    "attack",
    [
        "pathlib.Path('.git/hooks/post-commit').write_text('#!/bin/sh\\nid')",
        "pathlib.Path('.git/config').write_text('[core]\\n\\tfsmonitor = /tmp/x')",
        "os.rename('.git/hooks', '.git/old')",
        "os.rename('.git', 'old')",
        "os.remove('.git/config')",
        "subprocess.check_call(['git', 'config', 'core.fsmonitor', '/tmp/x'])",
    ],
)
def test_it_cannot_change_what_git_obeys_outside(shop: Shop, attack: str, tmp_path: Path) -> None:
    program = f"import os, pathlib, subprocess\n{attack}"
    control = tree(tmp_path / "control")
    (control / ".git/hooks").mkdir(exist_ok=True)
    assert outside_the_jail(program, control, {}) == 0
    shop.plant(program)
    before = (shop.folder / ".git/config").read_text()
    assert not shop.run().worked
    assert (shop.folder / ".git/config").read_text() == before
    assert not (shop.folder / ".git/hooks/post-commit").exists()


def test_a_pointer_to_other_settings_is_taken_away_and_the_tool_with_it(shop: Shop) -> None:
    shop.plant("open('.git/commondir', 'w').write('../evil')")
    with pytest.raises(Sabotaged, match="meddled"):
        shop.run()
    assert not (shop.folder / ".git/commondir").exists() and shop.names() == []


def test_it_is_ended_by_its_limits(shop: Shop) -> None:
    shop.plant("import subprocess\nwhile True: subprocess.Popen(['sleep', '60'])")
    done = shop.run()
    assert not done.worked and done.ended_by == "processes" and "its limit" in done.line


def test_a_changed_program_is_not_run_and_disabled_at_once(shop: Shop) -> None:
    tool = shop.plant("print('good')")
    assert shop.run().output == "good"
    evil = "open('evil.txt', 'w').write('x')"
    (shop.site.repository.folder / "planted" / "program.py").write_text(evil)
    with pytest.raises(Sabotaged, match="not run, and is disabled"):
        shop.run()
    assert not (shop.folder / "evil.txt").exists() and shop.names() == []
    with pytest.raises(UnknownName):
        shop.run()
    with shop.site.database.reading() as execute:
        told = [each for each in acts(execute, shop.site.number) if each.what == "disabled"]
    assert [each.subject for each in told] == [tool] and "not the one" in told[0].why
