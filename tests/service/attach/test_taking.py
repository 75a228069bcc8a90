"""What git says of a folder's files, and that they can be had again from it."""

import stat
import subprocess
from pathlib import Path

import pytest

from metamem.service.attach.taking import take
from metamem.service.words import Tree
from metamem.service.writing.trees import MOST, prepare_tree

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
BLOCK = (
    f"-----BEGIN RSA PRIVATE KEY-----\n{'MIIEpAIBAAKCAQEA7b' * 4}\n-----END RSA PRIVATE KEY-----\n"
)


def git(folder: Path, *words: str, given: str = "") -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *words], input=given, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    for name, text in (("a.py", "a = 1\n"), ("b.py", "b = 1\n"), ("src/c.py", "c = 1\n")):
        (root / name).write_text(text)
    (root / ".gitignore").write_text("*.log\n")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    return root


def files(root: Path) -> dict[str, tuple[str, bool]]:
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_file() and not name.startswith(".git/") and not name.endswith(".log"):
            found[name] = (path.read_text(), bool(path.stat().st_mode & stat.S_IXUSR))
    return found


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_changed_tree_can_be_had_again_and_is_not_touched(
    repository: Path, tmp_path: Path
) -> None:
    (repository / "a.py").write_text("a = 2\nno end")
    (repository / "b.py").unlink()
    (repository / "new ä file.py").write_text("new\n")
    (repository / "src" / "run.sh").write_text("#!/bin/sh\n")
    (repository / "src" / "run.sh").chmod(0o755)
    (repository / "staged.py").write_text("staged\n")
    git(repository, "add", "staged.py")
    (repository / "left.log").write_text("ignored\n")
    before = everything(repository)
    tree = take(str(repository / "src"))
    assert everything(repository) == before
    assert tree is not None
    assert tree.whole
    assert tree.folder == str(repository / "src")
    kept = prepare_tree(tree)
    assert kept["whole"]
    assert kept["diff"] == tree.diff
    again = tmp_path / "again"
    git(tmp_path, "clone", "-q", str(repository), str(again))
    git(again, "checkout", "-q", tree.commit)
    git(again, "apply", given=kept["diff"])
    assert files(again) == files(repository)


def test_a_clean_tree_and_one_in_a_further_work_tree(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "other"))
    for folder in (repository, tmp_path / "other"):
        tree = take(str(folder))
        assert tree is not None
        assert (tree.diff, tree.whole) == ("", True)
        assert tree.commit == git(repository, "rev-parse", "HEAD").strip()
    (tmp_path / "other" / "new.py").write_text("new\n")
    changed = take(str(tmp_path / "other"))
    assert changed is not None
    assert "+new" in changed.diff


def test_where_there_is_no_tree(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "empty").mkdir()
    git(tmp_path / "empty", "init", "-q")
    for folder in (tmp_path / "plain", tmp_path / "empty", tmp_path / "gone"):
        assert take(str(folder)) is None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("settings.py", f"TOKEN = '{KEY}'\n".encode()),
        ("key.txt", BLOCK.encode()),
        (".env", b"COLOUR=blue-and-nothing-else\n"),
        ("deploy/.env.production", b"COLOUR=blue-and-nothing-else\n"),
        ("picture.bin", bytes(range(256)) * 10),
        ("latin.txt", b"caf\xe9\n"),
        ("large.txt", b"x" * 80 + b"\n" * MOST),
    ],
)
def test_what_must_not_be_kept_is_not_and_the_tree_says_so(
    repository: Path, name: str, content: bytes
) -> None:
    (repository / "a.py").write_text("a = 2\n")
    (repository / name).parent.mkdir(exist_ok=True)
    (repository / name).write_bytes(content)
    tree = take(str(repository))
    assert tree is not None
    kept = prepare_tree(tree)
    assert not kept["whole"]
    assert kept["commit"] == tree.commit
    for line in content.splitlines():
        assert not line or line.decode("latin-1") not in kept["diff"]


def test_programs_that_a_repository_names_are_not_run(repository: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\ncat\n")
    trap.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(trap))
    git(repository, "config", "diff.external", str(trap))
    git(repository, "config", "diff.mine.textconv", str(trap))
    (repository / ".gitattributes").write_text("*.py diff=mine\n")
    (repository / "a.py").write_text("a = 2\n")
    tree = take(str(repository))
    assert tree is not None
    assert "+a = 2" in tree.diff
    assert not (tmp_path / "sprung").exists()


def test_a_diff_that_is_none_is_left_out() -> None:
    kept = prepare_tree(Tree("/f", "0" * 40, "rm -rf everything\n", 5))
    assert (kept["diff"], kept["whole"]) == ("", False)
