"""A shell text is read as the shell reads it: what is taken here has the words that bash finds."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from metamem.foundry.tools.operations import COMPUTED, LOOSE, Code, NotATool
from metamem.foundry.tools.quoting import safe

SIGNS = "ab/.~*?[]{},@'\"\\$ \t\n#=!-^:"
COUNTING = 'words() { for word in "$@"; do printf "%s\\0" "$word"; done; }\nwords '


def read(text: str) -> list[list[str]] | None:
    """The words of each command; None where it is refused, or something is computed or redirected."""
    code = Code()
    try:
        found = safe(text, code)
    except NotATool:
        return None
    if any(command.redirects for command in found.commands):
        return None
    words = [command.words for command in found.commands]
    if any(COMPUTED in word or LOOSE in word for command in words for word in command):
        return None
    assert found.text == text or "#" in text  # without holes only remarks are left out
    return words


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where no pattern finds anything."""
    return tmp_path_factory.mktemp("empty")


@settings(max_examples=250, deadline=None)
@given(st.text(SIGNS, max_size=14))
@example("\"\"$'\\x2fa'")
@example(".\\\n./a")
@example("{a,/b}")
@example('"a\\"b\\\\" \\~')
@example("a#b #c")
@example("@{a,/b}")
def test_the_words_are_those_that_bash_finds(empty: Path, text: str) -> None:
    found = read(f"echo {text}")
    if found is None or len(found) != 1:
        return
    done = subprocess.run(
        ["bash", "-f", "-c", COUNTING + text],  # what patterns find is another matter
        cwd=empty,
        env={"PATH": "/usr/bin:/bin", "HOME": "/home/nobody", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().split("\0")[:-1] == found[0][1:]


def test_something_is_taken() -> None:
    """Else the test above would say nothing."""
    taken = ["a b", '\'a  b\' "c\\"d"', "a\\ b", "--x=*.py", "HEAD@{1}", "a#b", "$ a$", "a\\\nb"]
    assert all(read(f"echo {text}") is not None for text in taken)
