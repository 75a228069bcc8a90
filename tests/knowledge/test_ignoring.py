"""Ignore files: git itself says what is right."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metamem.knowledge.patterns import FOLDER, parsed
from metamem.knowledge.walking import Found, walk
from tests.knowledge.conftest import write
from tests.knowledge.test_walking import found, why

NO_PATTERN = "a line that no path can match"


def repository(root: Path) -> Path:
    """The least that git takes for one."""
    for folder in ("objects", "refs", "info"):
        (root / ".git" / folder).mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return root


def git(folder: Path, *arguments: str, home: Path) -> str:
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, env=env, check=True
    )
    return os.fsdecode(done.stdout)


def listed(folder: Path, home: Path) -> set[str]:
    """The files below a folder that git does not ignore."""
    said = git(folder, "ls-files", "-coz", "--exclude-standard", home=home)
    return {path for path in said.split("\0") if path}


def walked(folder: Path) -> set[str]:
    return {
        each.path for each in walk(folder) if isinstance(each, Found) or each.why == "empty"
    }  # git lists what is empty, too


# `a**/b` is left out: git up to 2.39 takes its `**` for folders, which its manual denies.
_PARTS = """a b ab * ? ** a* *b ?b [ab] [!a] [^b] [b-a] [a-c] []a] [a\\-z] [[:alpha:]] [![:digit:]]
    [[:alpha:] [[:none:]] [a [ \\a \\* \\[ a\\ c.x *.x *.* ü ?? # ! !a"""
PARTS = _PARTS.split()
NAMES = ["a", "b", "ab", "c.x", "a b", "a ", "ü", "*", "#", "!a", "[", "x]", "\\", "-"]
LINES = st.builds(
    lambda start, parts, end: start + "/".join(parts) + end,
    st.sampled_from(["", "", "", "!", "!", "/", "!/", "\\!", "\\#", " "]),
    st.lists(st.sampled_from([*PARTS, "a b", "\\ ", " "]), min_size=1, max_size=3),
    st.sampled_from(["", "", "", "/", "/**", " ", "  ", "\\ ", "/ ", "\t", "\r", "\\"]),
)
IGNORE_FILES = st.builds(
    lambda mark, lines, end: mark + "\n".join(lines) + end,
    st.sampled_from(["", "", "", "\ufeff"]),
    st.lists(LINES | st.sampled_from(["", "#", "!", "/", "//", "*"]), min_size=1, max_size=4),
    st.sampled_from(["\n", ""]),
)
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)


@pytest.mark.slow
@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(
    paths=st.lists(PATHS, min_size=1, max_size=10),
    rules=st.lists(st.tuples(st.integers(0, 9), IGNORE_FILES), min_size=1, max_size=3),
    exclude=st.just("") | IGNORE_FILES,
)
def test_what_is_walked_is_what_git_lists(paths, rules, exclude):
    with tempfile.TemporaryDirectory() as place:
        root = repository(Path(place) / "root")
        (root / ".git/info/exclude").write_text(exclude)
        for path in paths:
            try:
                write(root, {path: "1"})
            except OSError:
                continue  # a folder goes by that name, or a file where a folder would be
        folders = sorted({parent for path in root.rglob("*") for parent in path.parents})
        folders = [f for f in folders if f.is_relative_to(root) and ".git" not in f.parts]
        for which, text in rules:
            write(folders[which % len(folders)], {".gitignore": text})
        told = listed(root, Path(place))
        assert walked(root) == told
        for inside in {str(Path(path).parent) for path in told}:
            assert walked(root / inside) == listed(root / inside, Path(place))


@pytest.mark.parametrize("line", ["!", "/", "!/", "[a", "x/[a/y", "a\\", "[[:none:]]"])
def test_a_line_that_no_path_can_match_is_told_and_takes_no_other_with_it(tmp_path, line):
    repository(tmp_path)
    write(tmp_path, {".gitignore": f"hidden.txt\n{line}\n", "hidden.txt": "1", "a.py": "1"})
    assert found(tmp_path) == [".gitignore", "a.py"] == sorted(listed(tmp_path, tmp_path))
    assert why(tmp_path)[".gitignore:2"] == NO_PATTERN


def test_a_range_that_runs_backwards_is_its_first_letter(tmp_path):
    repository(tmp_path)
    write(
        tmp_path, {".gitignore": "hidden.txt\n[z-a]\n", **dict.fromkeys(("hidden.txt", "z"), "1")}
    )
    write(tmp_path, {"m": "1"})
    assert found(tmp_path) == [".gitignore", "m"] == sorted(listed(tmp_path, tmp_path))


def test_blank_lines_and_remarks_are_not_told(tmp_path):
    write(tmp_path, {".gitignore": "# notes\n\n   \n\r\na.log\r\n", "a.log": "1"})
    assert found(tmp_path) == [".gitignore"] and why(tmp_path) == {"a.log": "ignored"}


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 20 + "*b", "a" * 250),
        ("**/a/" * 20 + "b", "a/" * 120 + "a"),
        ("**/*a*a/" * 20 + "b", "aaaaaaa/" * 30 + "a"),
        ("x/" + "*[ab]" * 20 + "c", "x/" + "ab" * 120),
    ],
)
def test_no_pattern_takes_for_ever(pattern, path):
    begun = time.process_time()
    assert parsed(pattern.encode()).ignored(path.encode()) is None
    assert time.process_time() - begun < 1


def test_a_folder_is_told_from_a_file_by_its_mark():
    said = parsed(b"build/\n")
    assert said.ignored(b"a/build" + FOLDER) is True and said.ignored(b"a/build") is None


def test_ignore_files_above_the_root_rule_it_too(tmp_path):
    repository(tmp_path / "repo")
    write(
        tmp_path,
        {
            ".gitignore": "*.py\n",  # above the repository: none of its business
            "repo/.gitignore": "gen/\n*.private\n/sub/near.txt\n",
            "repo/.metamemignore": "fixtures/\n",
            "repo/.git/info/exclude": "*.mine\n",
            "repo/sub/.gitignore": "!kept.private\n",
            **{f"repo/sub/{name}": "1" for name in ("a.py", "x.private", "kept.private", "x.mine")},
            **{f"repo/sub/{name}": "1" for name in ("near.txt", "gen/x.py", "fixtures/x.py")},
            "repo/sub/deep/near.txt": "1",
        },
    )
    assert found(tmp_path / "repo/sub") == [".gitignore", "a.py", "kept.private", "deep/near.txt"]
    assert found(tmp_path / "repo/sub/gen") == ["x.py"]  # whoever names it means it


def test_without_a_repository_nothing_rules_from_above(tmp_path):
    write(tmp_path, {".gitignore": "*.py\n", "sub/a.py": "1", "sub/.git/x": "no repository"})
    assert found(tmp_path / "sub") == ["a.py"]


def test_a_work_tree_has_the_exclude_file_of_its_repository(tmp_path):
    main = tmp_path / "main"
    write(main, {"a.txt": "1"})
    git(main, "init", "-q", home=tmp_path)
    git(main, "add", ".", home=tmp_path)
    who = ("-c", "user.name=n", "-c", "user.email=e@example.org")
    git(main, *who, "commit", "-qm", "one", home=tmp_path)
    git(main, "worktree", "add", "-q", "../tree", home=tmp_path)
    (main / ".git/info/exclude").write_text("*.mine\n")
    write(tmp_path / "tree", {".gitignore": "gen/\n", "sub/x.mine": "1", "sub/gen/x": "1"})
    write(tmp_path / "tree", {"sub/b.txt": "1"})
    assert set(found(tmp_path / "tree")) == listed(tmp_path / "tree", tmp_path)
    assert found(tmp_path / "tree/sub") == ["b.txt"]


def test_a_repository_inside_has_rules_of_its_own(tmp_path):
    repository(tmp_path)
    repository(tmp_path / "inner")
    write(
        tmp_path,
        {
            ".gitignore": "*.log\n",
            ".metamemignore": "*.tmp\n",
            "inner/.git/info/exclude": "mine\n",
            **{f"inner/{name}": "1" for name in ("a.log", "a.tmp", "mine", "deep/a.log")},
        },
    )
    inner = {f"inner/{path}" for path in listed(tmp_path / "inner", tmp_path)} - {"inner/a.tmp"}
    assert {path for path in found(tmp_path) if "/" in path} == inner
    assert inner == {"inner/a.log", "inner/deep/a.log"}


@pytest.mark.parametrize("name", [".gitignore", ".metamemignore"])
def test_what_cannot_be_read_hides_everything_below_it(tmp_path, name):
    repository(tmp_path)
    write(tmp_path, {"a.py": "1", "deep/b.py": "1", "deep/er/c.py": "1"})
    (tmp_path / "deep" / name).symlink_to(name)  # a link to itself: nobody can read it
    assert found(tmp_path) == ["a.py"]
    assert f"deep/{name} cannot be read" in why(tmp_path)["deep/"]
    assert found(tmp_path / "deep/er") == []
    assert f"../{name} cannot be read" in why(tmp_path / "deep/er")[""]


def test_what_is_no_plain_file_rules_nothing(tmp_path):
    os.mkfifo(tmp_path / ".gitignore")
    write(tmp_path, {"a.py": "1", "deep/.gitignore/b.py": "1"})
    assert found(tmp_path) == ["a.py", "deep/.gitignore/b.py"]
