"""Projects are recognised by their repository, whatever way one comes to it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.core.errors import UsageError
from metamem.service.access.projects import normal_remote, project_of

SAME = (
    "git@github.com:Acme/web-shop.git",
    "ssh://git@github.com/acme/web-shop",
    "ssh://git@github.com:22/acme/web-shop.git",
    "https://github.com/acme/web-shop.git",
    "https://ada:ghp_token@github.com/acme/web-shop/",
    "https://github.com:443/acme/web-shop.git?token=x#y",
    "git://github.com/acme/web-shop.git",
    "github.com:acme/web-shop",
    "https://GitHub.com/acme//web%2Dshop",
)


@pytest.mark.parametrize("url", SAME)
def test_the_ways_to_write_a_remote_are_one(url: str) -> None:
    assert normal_remote(url) == "github.com/acme/web-shop"


def test_other_remotes_are_others() -> None:
    others = (
        "git@gitlab.com:acme/web-shop",
        "git@github.com:acme/web",
        "ssh://h:29418/acme/web-shop",
    )
    assert len({normal_remote(url) for url in (*others, SAME[0])}) == 4


@given(url=st.text(max_size=60))
def test_any_text_can_be_a_remote(url: str) -> None:
    assert "@" not in normal_remote(f"https://user:secret@host.example/{url}").split("/")[0]
    normal_remote(url)


def configured(folder: Path, config: str) -> Path:
    git = folder / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(config)
    return folder


def test_the_config_is_read_as_git_writes_it(tmp_path: Path) -> None:
    config = """
[core]
\turl = nothing
[remote "fork"]
\turl = git@github.com:me/web-shop.git
[Remote "origin"] ; mine
\tfetch = +refs/heads/*:refs/remotes/origin/*
\tURL = "https://x:y@github.com/acme/web-shop.git" # a comment
[branch "main"]
\tremote = origin
"""
    found = project_of(configured(tmp_path / "a", config))
    assert found.identity == "github.com/acme/web-shop" and found.known_by == "remote"
    assert found.scope.name.startswith("acme.web-shop-")
    assert str(found.scope).startswith("local/project/")
    without = config.replace("origin", "upstream")
    assert project_of(configured(tmp_path / "b", without)).identity == "github.com/me/web-shop"


def test_folders_below_belong_to_the_project(tmp_path: Path) -> None:
    root = configured(tmp_path / "a", '[remote "origin"]\nurl = git@h.org:a/b\n')
    deep = root / "src" / "deep"
    deep.mkdir(parents=True)
    assert project_of(deep) == project_of(root)


def test_what_has_no_remote_is_known_by_where_it_lies(tmp_path: Path) -> None:
    one, two = configured(tmp_path / "x" / "a", ""), configured(tmp_path / "y" / "a", "")
    assert project_of(one).known_by == "repository"
    assert project_of(one).scope != project_of(two).scope
    plain = tmp_path / "plain ünïcode"
    plain.mkdir()
    assert project_of(plain).known_by == "folder"
    with pytest.raises(UsageError):
        project_of(tmp_path / "nowhere")


def test_damaged_repositories_are_no_crash(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / ".git").write_bytes(b"gitdir: \xff\x00/nowhere")
    assert project_of(folder).known_by == "folder"
    strange = configured(tmp_path / "b", '[remote "origin\nurl\n===\n[[[\n')
    assert project_of(strange).known_by == "repository"


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_clones_and_work_trees_are_one_project(tmp_path: Path) -> None:
    def git(*arguments: str, at: Path) -> None:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always")
        subprocess.run(
            ["git", *who, *arguments], cwd=at, check=True, capture_output=True, env=clean
        )

    first = tmp_path / "first"
    first.mkdir()
    git("init", "-q", ".", at=first)
    git("commit", "-q", "--allow-empty", "-m", "x", at=first)
    git("worktree", "add", "-q", "../tree", at=first)
    assert project_of(tmp_path / "tree") == project_of(first)
    git("remote", "add", "origin", SAME[0], at=first)
    with_remote = project_of(first)
    assert project_of(tmp_path / "tree") == with_remote
    git("clone", "-q", str(first), "clone", at=tmp_path)
    assert project_of(tmp_path / "clone") != with_remote  # it is a clone of the folder
    git("remote", "set-url", "origin", SAME[4], at=tmp_path / "clone")
    assert project_of(tmp_path / "clone") == with_remote
    git("clone", "-q", "--bare", str(first), "bare.git", at=tmp_path)
    git("clone", "-q", "bare.git", "one", at=tmp_path)
    git("clone", "-q", str(tmp_path / "bare.git"), "two", at=tmp_path)
    git("submodule", "add", "-q", str(tmp_path / "bare.git"), "sub", at=tmp_path / "one")
    assert project_of(tmp_path / "one") == project_of(tmp_path / "two")
    assert project_of(tmp_path / "one" / "sub") == project_of(tmp_path / "one")
