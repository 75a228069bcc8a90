"""The shape of a use: what stays when it is done again with other values.

A shell command is its programs with subcommands and options, in their order; other tools are their name
and the structure of their arguments. A path counts by its suffix alone. Two uses with one shape may be
the same step of a workflow; uses with different shapes never are.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metamem.foundry.words import Use
from metamem.foundry.workflows import shell


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


COMMAND_KEYS = ("command", "cmd")
# What an agent says about a command, or how long it may take: it changes nothing of what is done.
_REMARKS = _words(
    "description explanation justification timeout timeout_ms yield_time_ms max_output_tokens"
)
_SUFFIXED = re.compile(r"[\w./~+@-]*(\.[A-Za-z][A-Za-z0-9]{0,5})")
_OPTION = re.compile(r"--?[A-Za-z0-9?#][\w.-]*(?:=.*)?", re.DOTALL)
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_RUNNERS = frozenset({"sudo", "time", "nohup", "env", "npx", "command", "exec", "xargs"})
_RUNNERS_OF_TWO = frozenset(
    {("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("bundle", "exec")}
)
_WITH_SUBCOMMAND = _words(
    "git gh npm pnpm yarn bun cargo go docker podman kubectl helm pip pip3 uv poetry brew apt apt-get "
    "systemctl make just rake gradle mvn terraform dotnet conda svn hg"
)
_TWO_DEEP = frozenset({"run", "compose", "remote", "stash", "worktree", "pr", "issue", "submodule"})
_INTERPRETERS = _words("python python3 bash sh zsh node ruby perl deno php")
_BEFORE_SUBCOMMAND = frozenset({"-C", "-c", "--git-dir", "--work-tree"})  # they take the next word

_LOOKING = _words(
    "ls cat head tail grep egrep rg find wc pwd which type file stat tree echo printf du df env date "
    "whoami id hostname sort uniq cut awk jq cd test true false diff cmp less more column tr nl "
    "basename dirname realpath readlink sleep ps uname history"
)
# A program that is asked about itself; what makes `curl` do more than fetch and show.
_ASKS = frozenset({"--version", "--help"})
_SENDS = re.compile(r"-[a-zA-Z]*[doOFTX]|--(?:data|form|upload|request|output|remote-name|json)")
_LOOKING_GIT = _words(
    "status log diff show blame rev-parse ls-files describe shortlog grep reflog cat-file"
)
_LISTING = _words("-l --list -v -vv -a -r --all --show-current")
_LOOKING_TOOLS = re.compile(
    r"(?:get|list|ls|search|find|read|view|show|describe|query|look|glob|grep|think|todo|task|"
    r"ask|plan|web|exit_?plan|notebook_?read|codebase_?search|toolsearch|calculate)(?![a-z])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Shape:
    """Equal for uses that may be one step; `looks`: it changes nothing that anyone knows of."""

    tool: str
    structure: str
    looks: bool

    @property
    def key(self) -> str:
        return f"{self.tool} {self.structure}"


def shape(use: Use) -> Shape:
    """What a use is, but for its values."""
    text = command_text(use.arguments)
    if text is None:
        return Shape(use.tool, _structure(use.arguments), _tool_looks(use.tool))
    parts = shell.commands(text)
    others = {k: v for k, v in essential(use.arguments).items() if k not in COMMAND_KEYS}
    structure = " ".join(filter(None, (f"{c.joined} {_of_command(c)}".strip() for c in parts)))
    return Shape(
        use.tool,
        f"{structure} {_structure(others)}" if others else structure,
        bool(parts) and all(_command_looks(c) for c in parts),
    )


def essential(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without remarks on a shell command; all of them for other tools."""
    if command_text(arguments) is None:
        return dict(arguments)
    return {name: value for name, value in arguments.items() if name not in _REMARKS}


def command_text(arguments: Mapping[str, Any]) -> str | None:
    """The shell text of a use, where it is one: `command`, or the last word of `bash -lc …`."""
    for key in COMMAND_KEYS:
        given = arguments.get(key)
        if isinstance(given, str):
            return given
        if isinstance(given, Sequence) and given and all(isinstance(g, str) for g in given):
            shells = len(given) == 3 and given[1] in ("-c", "-lc")
            return str(given[2]) if shells else " ".join(given)
    return None


def suffix(text: str) -> str:
    """`*.py` for a path that ends so; nothing where a text is no path, or one without a suffix."""
    match = _SUFFIXED.fullmatch(text) if len(text) <= 300 else None
    return f"*{match[1]}" if match else ""


def summary(tool: str, arguments: Mapping[str, Any]) -> str:
    """A step in a few words: the programs with their subcommands, or the tool."""
    text = command_text(arguments)
    if text is None:
        return tool
    parts = (" ".join(_program(c.words)[0].split()[:3]) for c in shell.commands(text))
    return " ".join(part for part in parts if part) or tool


def _of_command(command: shell.Command) -> str:
    program, rest = _program(command.words)
    options: set[str] = set()
    others: list[str] = []
    for word in rest:
        assigned = _ASSIGNED.fullmatch(word)
        if _OPTION.fullmatch(word):
            options.add(re.sub(r"^-\d+$", "-#", word.split("=", 1)[0]))
            continue
        pattern = f"{assigned[1]}=" if assigned else suffix(word) or "·"
        if not others or others[-1] != pattern:
            others.append(pattern)
    where = [f"{sign}{suffix(target) or '·'}" for sign, target in command.redirects]
    return " ".join([program, *sorted(options), *others, *where])


def _program(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The program with its subcommand or script, and the words after it."""
    before = []
    while words:
        assigned = _ASSIGNED.fullmatch(words[0])
        if assigned:
            before.append(f"{assigned[1]}=")
            words = words[1:]
        elif words[0] in _RUNNERS and len(words) > 1:
            before.append(words[0])
            words = words[1:]
        elif tuple(words[:2]) in _RUNNERS_OF_TWO:
            before.extend(words[:2])
            words = words[2:]
        elif words[0] == "timeout" and len(words) > 2:
            before.append("timeout")
            words = words[2:]
        else:
            break
    if not words:
        return " ".join(before), ()
    name = words[0].rsplit("/", 1)[-1]
    rest = list(words[1:])
    if name in _INTERPRETERS:
        if rest and rest[0] == "-m" and len(rest) > 1:
            return " ".join([*before, name, "-m", rest[1]]), rest[2:]
        if rest and not rest[0].startswith("-"):
            return " ".join([*before, name, rest[0].rsplit("/", 1)[-1]]), rest[1:]
    if name in _WITH_SUBCOMMAND:
        at = 0
        while at < len(rest) and rest[at].startswith("-"):
            at += 2 if rest[at] in _BEFORE_SUBCOMMAND else 1
        depth = 2 if at < len(rest) and rest[at] in _TWO_DEEP else 1
        subcommand = [w for w in rest[at : at + depth] if not w.startswith("-")]
        return " ".join([*before, name, *subcommand]), rest[:at] + rest[at + len(subcommand) :]
    return " ".join([*before, name]), rest


def _command_looks(command: shell.Command) -> bool:
    if any(">" in sign and target not in ("", "/dev/null") for sign, target in command.redirects):
        return False
    words = [w for w in command.words if not _ASSIGNED.fullmatch(w)]
    if not words:
        return True
    name = words[0].rsplit("/", 1)[-1]
    if name == "git":
        sub = _program(words)[0].split()
        return len(sub) > 1 and (
            sub[1] in _LOOKING_GIT
            or (sub[1] in ("branch", "remote", "tag") and set(words[2:]) <= _LISTING)
        )
    if name == "sed":
        return "-n" in words and not any(w.startswith("-i") for w in words)
    if name == "find":
        return not {"-delete", "-execdir", "-ok"} & set(words) and _runs_looking(words, "-exec")
    if name == "xargs":
        return _runs_looking(["-exec", *(w for w in words[1:] if not w.startswith("-"))], "-exec")
    if name == "curl":
        return not any(_SENDS.match(word) for word in words[1:])
    return name in _LOOKING or any(word in _ASKS for word in words[1:])


def _runs_looking(words: Sequence[str], option: str) -> bool:
    """Whether what a program is told to run on all that it finds only looks."""
    run = [words[at + 1 : at + 2] for at, word in enumerate(words) if word == option]
    return all(name and name[0].rsplit("/", 1)[-1] in _LOOKING for name in run)


def _tool_looks(tool: str) -> bool:
    # `mcp__server__get_thing` looks as `get_thing` does.
    return _LOOKING_TOOLS.match(tool.rsplit("__", 1)[-1]) is not None


def _structure(value: Any, depth: int = 4) -> str:
    if isinstance(value, Mapping):
        if not depth:
            return "{}"
        named = (f"{name}:{_structure(value[name], depth - 1)}" for name in sorted(value, key=str))
        return "{" + ",".join(named) + "}"
    if isinstance(value, str):
        return suffix(value) or "text"
    if isinstance(value, bool) or value is None:
        return "flag"
    if isinstance(value, Sequence):
        return "[" + "|".join(sorted({_structure(v, depth - 1) for v in value})) * bool(depth) + "]"
    return "number"
