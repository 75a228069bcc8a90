"""A manifest tells two trees apart whatever differs, and comes to an end whatever is there."""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metamem.core.errors import DataError
from metamem.sandbox.tree import MOST_DEPTH, Entry, is_over, manifest


def planted(folder: Path) -> Path:
    (folder / "a").write_text("text")
    (folder / "d").mkdir()
    (folder / "d" / "b").write_text("more")
    return folder


def write_hook(tree: Path) -> None:
    (tree / ".git" / "hooks").mkdir(parents=True)
    (tree / ".git" / "hooks" / "post-commit").write_text("evil")


CHANGES = {
    "a hidden file": write_hook,
    "a mode": lambda tree: (tree / "a").chmod(0o777),
    "the mode of the tree": lambda tree: tree.chmod(0o777),
    "the mode of a folder": lambda tree: (tree / "d").chmod(0o711),
    "a set-user bit": lambda tree: (tree / "a").chmod(0o4644),
    "an empty folder": lambda tree: (tree / "node_modules").mkdir(),
    "a link": lambda tree: (tree / "link").symlink_to("/etc/passwd"),
    "a pipe": lambda tree: os.mkfifo(tree / "pipe"),
    "content": lambda tree: (tree / "d" / "b").write_text("lore"),
    "a name": lambda tree: (tree / "a").rename(tree / "A"),
    "a file that became a link": lambda tree: (
        (tree / "a").rename(tree / "d" / "a"),
        (tree / "a").symlink_to("d/a"),
    ),
    "something gone": lambda tree: (tree / "d" / "b").unlink(),
    "a name that is no text": lambda tree: Path(
        os.fsdecode(os.fsencode(tree) + b"/\xff\n")
    ).touch(),
}


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_changes_is_seen(tmp_path: Path, what: str) -> None:
    (tmp_path / "x").mkdir()
    tree = planted(tmp_path / "x")
    before = manifest(tree)
    assert manifest(tree) == before
    CHANGES[what](tree)
    assert manifest(tree) != before


def test_what_it_says(tmp_path: Path) -> None:
    tree = planted(tmp_path)
    (tree / "link").symlink_to("/nowhere")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tree / "socket"))
    found = manifest(tree)
    assert list(found) == [".", "a", "d", "d/b", "link", "socket"]
    kinds = ["folder", "file", "folder", "file", "link", "other"]
    assert [entry.kind for entry in found.values()] == kinds
    (tree / "a").chmod(0o600)
    sha = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"  # sha256 of "text"
    assert manifest(tree)["a"] == Entry("file", 0o600, sha)


def test_more_than_it_may_look_at_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(bytes(600_000))
    (tmp_path / "two").write_bytes(bytes(600_000))
    assert len(manifest(tmp_path, most_bytes=1_200_000, most_entries=3)) == 3
    with pytest.raises(DataError, match="more than 1 MB"):
        manifest(tmp_path, most_bytes=1 << 20)
    with pytest.raises(DataError, match="more than 2 files"):
        manifest(tmp_path, most_entries=2)
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(DataError, match="more than 64 MB"):
        manifest(tmp_path)
    with pytest.raises(DataError, match="cannot be read"):
        manifest(tmp_path / "absent")


def test_a_bottomless_tree_is_refused_and_leaves_nothing_open(tmp_path: Path) -> None:
    """Longer than any path may be: it can only be made, and looked at, step by step."""
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(MOST_DEPTH + 5):
        os.mkdir("x" * 100, dir_fd=here)
        inner = os.open("x" * 100, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        with pytest.raises(DataError, match="deep"):
            manifest(tmp_path)
        assert is_over(tmp_path, 1 << 40)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_the_room_a_tree_takes(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    assert not is_over(tmp_path, 1 << 20)  # it takes none yet
    (tmp_path / "full").write_bytes(os.urandom(2 << 20))
    assert is_over(tmp_path, 1 << 20) and not is_over(tmp_path, 4 << 20)
    for number in range(50):
        (tmp_path / f"empty {number}").touch()
    assert is_over(tmp_path, (2 << 20) + (50 << 10))
    assert not is_over(tmp_path / "absent", 1)


names = st.text("abc.", min_size=1, max_size=3).filter(lambda name: name not in (".", ".."))
trees = st.dictionaries(names, st.binary(max_size=8), max_size=5)


@given(trees, trees)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_manifests_are_equal_where_trees_are(
    tmp_path_factory: pytest.TempPathFactory, one: dict[str, bytes], two: dict[str, bytes]
) -> None:
    made = []
    for files in (one, two):
        folder = tmp_path_factory.mktemp("tree")
        for name, content in files.items():
            (folder / name).write_bytes(content)
        made.append(manifest(folder))
    assert (made[0] == made[1]) == (one == two)
