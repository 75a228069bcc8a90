"""Commands that failed for want of the right words or means, and what then worked.

A failure counts only where the output says that the command itself was wrong or something was missing:
tests that fail are the work, not a lesson. A success counts only where it means the same: the same
arguments with another program, other options or something before it, or the very same command after one
other that made it possible. Where files were edited in between, nothing is said.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from metamem.service.importing.transcript import Call
from metamem.service.writing.clean import one_line
from metamem.service.writing.trust import strength

LONGEST = 200  # characters of a command; longer ones are scripts
LINE = 160  # characters of an error's line
NEAR = 4  # commands after a failure among which its mending is looked for
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
    r"|unknown (?:option|command|flag|argument)|invalid option|no such (?:option|command)|missing script"
    r"|no rule to make target|permission denied|connection refused|could not connect|eacces|enoent"
    r"|externally-managed-environment|not installed|no such service",
    re.IGNORECASE,
)
# Whose failure means that something is not there, and no more.
_LOOKS = frozenset(
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
_REFUSED = re.compile(
    r"user (?:doesn't|does not|didn't) want|rejected|interrupted|cancell?ed|denied by|timed? ?out",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(r"\w+=")


@dataclass(frozen=True, slots=True)
class Command:
    """A shell command, as far as it can be held against another."""

    line: str
    program: str
    words: tuple[str, ...]  # after the program, without options

    def means(self, failed: "Command") -> bool:
        """Whether this does what another one was meant to do, said in another way."""
        if self.line == failed.line or not set(failed.words) <= {*self.words, self.program}:
            return False
        every = (self.program, *self.words)
        if any(_bare(word) == _bare(failed.program) for word in every):
            return True
        if any({_bare(self.program), _bare(failed.program)} <= family for family in _FAMILIES):
            return True
        names = (_bare(self.program), _bare(failed.program))
        return SequenceMatcher(None, *names).ratio() >= CLOSE


@dataclass(frozen=True, slots=True)
class Mended:
    """A command that failed, why, and the one that worked."""

    key: str
    text: str
    source: str  # whose words it holds
    prompt: str  # the line of the user that it served
    at: int | None


def mended(calls: Sequence[Call]) -> list[Mended]:
    """What a session's calls teach, each lesson once."""
    own = [call for call in calls if not call.agent]
    found: dict[str, Mended] = {}
    for place, call in enumerate(own):
        failed = _command(call)
        if failed is None or not call.failed or failed.program in _LOOKS:
            continue
        why = _reason(call)
        if not why:
            continue
        lesson = _lesson(failed, why, call, own[place + 1 :])
        if lesson is not None:
            found.setdefault(lesson.text, lesson)
    return list(found.values())


def _lesson(failed: Command, why: str, call: Call, later: Sequence[Call]) -> Mended | None:
    between: list[Command] = []
    for each in later:
        if each.prompt != call.prompt or (_EDITS.search(each.tool) and not each.failed):
            return None
        command = _command(each)
        if command is None:
            continue
        if each.failed is False:
            if command.line == failed.line:
                if len(between) != 1:
                    return None  # by itself, or nobody knows by which
                return _told(failed, why, f"After `{between[0].line}` it worked.", call)
            if command.means(failed):
                return _told(failed, why, f"`{command.line}` worked.", call)
            if command.program not in _LOOKS:
                between.append(command)
        if len(between) > NEAR:
            return None
    return None


def _told(failed: Command, why: str, then: str, call: Call) -> Mended | None:
    """The lesson with the error's own words where those command nobody, without them else."""
    for reason, source in ((f" with “{why}”", "tool"), ("", "agent")):
        text = f"`{failed.line}` failed{reason}. {then}"
        if not strength(text):
            return Mended(f"mended {call.id}", text, source, call.prompt, call.at)
    return None


def _reason(call: Call) -> str:
    """The line of the output that says what was wrong; empty where none does."""
    output = call.error or call.result or ""
    if _REFUSED.search(output[:300]):
        return ""
    for line in output.splitlines()[-200:]:
        if _WRONG.search(line):
            return one_line(line.strip(), LINE)
    return ""


def _command(call: Call) -> Command | None:
    """The one plain command of a call; None for scripts and whatever else is no shell command."""
    if call.tool.lower() not in _SHELLS:
        return None
    given = call.arguments.get("command", call.arguments.get("cmd"))
    if isinstance(given, list) and given and all(isinstance(part, str) for part in given):
        wraps = len(given) == 3 and given[1] in ("-c", "-lc")
        given = given[2] if wraps else shlex.join(given)
    if not isinstance(given, str):
        return None
    line = _plain(given.strip())
    if not line or len(line) > LONGEST or re.search(r"[\n;|&<>`]|\$\(", line):
        return None
    try:
        words = [word for word in shlex.split(line) if not _ASSIGNED.match(word)]
    except ValueError:
        return None
    while words and words[0] in _WRAPS:
        words.pop(0)
    if not words:
        return None
    rest = tuple(word for word in words[1:] if not word.startswith("-"))
    return Command(line, words[0], rest)


def _plain(line: str) -> str:
    """Without the change of folder before it and the turning of errors into output after it."""
    line = re.sub(r"^cd\s+\S+\s*&&\s*", "", line)
    return re.sub(r"\s*2>&1\s*(?:\|\s*(?:tail|head)(?:\s+-\S+)*)?\s*$", "", line).strip()


def _bare(program: str) -> str:
    return program.rsplit("/", 1)[-1]
