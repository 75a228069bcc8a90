"""Which files are indexed."""

import os

import pytest

from metamem.core.errors import UsageError
from metamem.knowledge.walking import Found, walk
from tests.knowledge.conftest import write


def found(root):
    return [each.path for each in walk(root) if isinstance(each, Found)]


def why(root):
    return {each.path: each.why for each in walk(root) if not isinstance(each, Found)}


def test_ignore_files_are_obeyed_as_git_does(tmp_path):
    write(
        tmp_path,
        {
            ".gitignore": "*.log\n/build/\nsecret/\n",
            "a.py": "1",
            "a.log": "1",
            "build/x.py": "1",
            "deep/build/x.py": "1",
            "deep/.gitignore": "!keep.log\n*.tmp\n",
            "deep/keep.log": "1",
            "deep/other.log": "1",
            "deep/x.tmp": "1",
            "x.tmp": "1",
            "secret/x.py": "1",
            "fixtures/big.txt": "1",
            ".metamemignore": "fixtures/\n",
        },
    )
    assert found(tmp_path) == [
        ".gitignore",
        ".metamemignore",
        "a.py",
        "x.tmp",
        "deep/.gitignore",
        "deep/keep.log",
        "deep/build/x.py",
    ]


def test_what_is_left_out_is_told_with_the_reason(tmp_path):
    write(
        tmp_path,
        {
            "a.png": "1",
            ".env": "KEY=1",
            "server.pem": "1",
            "empty.py": "",
            "node_modules/x.js": "1",
            "big.txt": "x" * 1_000_001,
        },
    )
    (tmp_path / "round").symlink_to(tmp_path)
    (tmp_path / "nowhere").symlink_to(tmp_path / "absent")
    os.mkfifo(tmp_path / "pipe")
    assert found(tmp_path) == []
    assert why(tmp_path) == {
        "a.png": "binary",
        ".env": "made to hold secrets",
        "server.pem": "made to hold secrets",
        "empty.py": "empty",
        "node_modules": "a folder of tools",
        "big.txt": "larger than 1 MB",
        "round": "a link",
        "nowhere": "a link",
        "pipe": "no plain file",
    }


def test_a_single_file_may_be_indexed_also_where_it_is_ignored(tmp_path):
    write(tmp_path, {"a.py": "1", ".gitignore": "*.py\n"})
    assert found(tmp_path / "a.py") == ["a.py"]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        (".netrc", "machine a password b", "made to hold secrets"),
        (".env", "DB=plain", "made to hold secrets"),
        ("server.PEM", "x", "made to hold secrets"),
        ("a.png", "x", "binary"),
        ("poetry.lock", "[[package]]", "made by a program that locks versions"),
        ("a.txt", "", "empty"),
        ("a.txt", "x" * 1_000_001, "larger than 1 MB"),
    ],
)
def test_a_single_file_is_left_out_for_the_reasons_of_any_other(tmp_path, name, content, reason):
    write(tmp_path, {name: content})
    assert found(tmp_path / name) == [] and why(tmp_path / name) == {name: reason}


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        found(tmp_path / "absent")
