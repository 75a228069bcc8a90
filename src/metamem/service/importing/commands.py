"""Shell commands, as far as they can be held against one another."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from metamem.core.secrets import INSTEAD
from metamem.service.importing.runners import called_by, run_by

LONGEST = 200  # characters of a command; longer ones are scripts
CLOSE = 0.6  # of two programs' names
_SHELLS = frozenset(
    [
        "bash",
        "shell",
        "shell_command",
        "exec_command",
        "local_shell_call",
        "run_shell_command",
        "terminal",
        "execute",
    ]
)
_EDITS = re.compile(r"edit|write|patch|replace|create|notebook", re.IGNORECASE)
_WRONG = re.compile(
    r"command not found|: not found\b|no such file or directory|no module named|modulenotfounderror"
    r"|cannot find module|cannot find package|is not recognized|unrecogni[sz]ed (?:arguments?|option)"
    r"|unknown (?:option|command|flag|argument)|invalid option|no such (?:option|command)|is not an? [\w-]+ command|missing script"
    r"|no rule to make target|permission denied|connection refused|could not connect|eacces|enoent"
    r"|externally-managed-environment|not installed|no such service",
    re.IGNORECASE,
)
# Whose failure means that something is not there, and no more.
LOOKS = frozenset(
    [
        "grep",
        "egrep",
        "rg",
        "ag",
        "ls",
        "cat",
        "find",
        "fd",
        "test",
        "[",
        "[[",
        "which",
        "type",
        "command",
        "diff",
        "cmp",
        "head",
        "tail",
        "sed",
        "awk",
        "wc",
        "stat",
        "file",
        "echo",
        "printf",
        "true",
        "false",
        "cd",
        "pwd",
        "sleep",
        "kill",
        "pkill",
        "export",
        "source",
        ".",
        "set",
        "tree",
        "less",
        "more",
        "jq",
        "rm",
        "mkdir",
        "cp",
        "mv",
        "touch",
    ]
)
_WRAPS = frozenset(["sudo", "env", "time", "nice", "nohup", "exec", "command", "then"])
_FAMILIES = (
    frozenset(["npm", "pnpm", "yarn", "bun", "npx"]),
    frozenset(["python", "python3", "py"]),
    frozenset(["pip", "pip3", "uv"]),
    frozenset(["docker", "docker-compose", "podman"]),
)
_SCRIPT_FILE = re.compile(r"\.(?:py|[cm]?js|ts|rb|pl|sh|php)$")
_ASSIGNED = re.compile(r"\w+=")
_SCRIPT = re.compile(r"[\n;|&<>`]|\$\(")


@dataclass(frozen=True, slots=True)
class Command:
    """A shell command, as far as it can be held against another."""

    line: str
    program: str
    words: tuple[str, ...]  # after the program, without options

    @property
    def ran(self) -> "Command":
        """What it runs, where it is there to run another: `pytest -q` of `uv run pytest -q`."""
        words = self._given()
        inner = run_by(words) if words else words
        return self if len(inner) == len(words) else self._of(inner)

    @property
    def called(self) -> "Command":
        """What it has its project do, by that name: `jest` of `npm run jest`."""
        words = self.ran._given()
        inner = called_by(words) if words else []
        return self._of(inner) if inner else self

    def _given(self) -> list[str]:
        """The words of its line from its program on."""
        words = self.line.split()
        at = next((n for n, word in enumerate(words) if word.strip("'\"") == self.program), None)
        return [] if at is None else words[at:]

    def _of(self, words: Sequence[str]) -> "Command":
        return Command(" ".join(words), words[0], tuple(w for w in words[1:] if w in self.words))

    def means(self, failed: "Command") -> bool:
        """Whether this does what another one was meant to do, said in another way."""
        if self.line == failed.line:
            return False
        if set(failed.words) <= {*self.words, self.program} and self._is_like(failed):
            return True
        theirs = failed.ran
        return any(
            set(theirs.words) <= set(mine.words) and mine._does_as(theirs)
            for mine in (self.ran, self.called)
            if mine is not self or theirs is not failed
        )

    def _is_like(self, failed: "Command") -> bool:
        one, other = bare(self.program), bare(failed.program)
        misspelled = one[:1] == other[:1] and SequenceMatcher(None, one, other).ratio() >= CLOSE
        return misspelled or self._does_as(failed)

    def _does_as(self, failed: "Command") -> bool:
        """Whether it is the same program, one of its family, or the script that stands for it."""
        both = {bare(self.program), bare(failed.program)}
        if len(both) == 1 or any(both <= family for family in _FAMILIES):
            return True
        return _SCRIPT_FILE.sub("", bare(self.program)) == bare(failed.program)


def is_shell(tool: str) -> bool:
    return tool.lower() in _SHELLS


def is_edit(tool: str) -> bool:
    """Whether a tool of this name changes files."""
    return _EDITS.search(tool) is not None


def says_what_is_wrong(line: str) -> bool:
    """Whether a line of output says that a command itself was wrong or something was missing."""
    return _WRONG.search(line) is not None


def shell_line(tool: str, arguments: Mapping[str, Any]) -> str:
    """What a call of a shell gave it to run, without what only leads to it and cuts its output; empty where it
    is no such call."""
    return _plain(shell_text(tool, arguments))


def shell_text(tool: str, arguments: Mapping[str, Any]) -> str:
    """All that a call of a shell gave it to run."""
    if not is_shell(tool):
        return ""
    given = arguments.get("command", arguments.get("cmd"))
    if isinstance(given, list | tuple) and given and all(isinstance(part, str) for part in given):
        wraps = len(given) == 3 and given[1] in ("-c", "-lc")
        given = given[2] if wraps else shlex.join(given)
    return given.strip() if isinstance(given, str) else ""


def command_of(tool: str, arguments: Mapping[str, Any]) -> Command | None:
    """The one plain command of a call; None for scripts and whatever else is no shell command."""
    line = shell_line(tool, arguments)
    if len(line) > LONGEST or _SCRIPT.search(line):
        return None
    return parsed(line)


def parsed(line: str) -> Command | None:
    """A simple command, without what is put before it; None where there is none."""
    try:
        whole = INSTEAD.sub(lambda found: found[0].replace(" ", ""), line)  # it was one word
        words = [word for word in shlex.split(whole) if not _ASSIGNED.match(word)]
    except ValueError:
        return None
    while words and words[0] in _WRAPS:
        words.pop(0)
    if not words:
        return None
    rest = tuple(word for word in words[1:] if not word.startswith("-"))
    return Command(line, words[0], rest)


@lru_cache(maxsize=2048)
def _plain(line: str) -> str:
    """Without the change of folder before it and the turning of errors into output after it."""
    line = re.sub(r"^cd\s+\S+\s*&&\s*", "", line)
    return re.sub(r"\s*2>&1\s*(?:\|\s*(?:tail|head)(?:\s+-\S+)*)?\s*$", "", line).strip()


def bare(program: str) -> str:
    return program.rsplit("/", 1)[-1]
