"""What a host's tool does to a tree, in a few plain operations; the same for all hosts.

Texts with holes are *coded*: each hole is one character that no text of people holds, so that a command or
a patch can be read as text and its holes are found again afterwards.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from metamem.core.errors import UsageError
from metamem.foundry.words import Hole, Pieces, Template

_FIRST, _LAST = 0xE000, 0xF8FD  # of Unicode's private use
COMPUTED, LOOSE = "\uf8ff", "\uf8fe"  # what a shell computes there: inside of quotes, or not
Kind = Literal["shell", "edit", "write", "delete", "read"]

_SHELLS = {
    "Bash",
    "bash",
    "shell",
    "exec_command",
    "local_shell",
    "run_shell_command",
    "container.exec",
}
_EDITS = {"Edit", "edit", "replace", "MultiEdit"}
_WRITES = {"Write", "write", "write_file"}
READS = {"Read", "read", "read_file", "view"}
_PATCHES = {"apply_patch", "patch"}
# They look, or keep a list for the agent: a tree is the same after them.
_WITHOUT_EFFECT = {
    "Grep",
    "Glob",
    "LS",
    "grep",
    "glob",
    "list",
    "ls",
    "search_file_content",
    "list_directory",
    "read_many_files",
    "TodoWrite",
    "TodoRead",
    "todowrite",
    "todoread",
    "update_plan",
    "write_todos",
    "BashOutput",
    "ExitPlanMode",
    "find_files",
    "codebase_search",
}


class NotATool(UsageError):
    """A step that is never put into a tool, and why."""


class OverNetwork(NotATool):
    """It works over the network: it cannot be replayed either."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that is done. Texts are coded."""

    kind: Kind
    path: str = ""  # for `shell`, the folder in which it runs
    text: str = ""  # the command, the whole new content, or the text to be replaced
    new: str = ""
    everywhere: bool = False


class Code:
    """Holes as characters, and back."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def coded(self, template: Template) -> str:
        """A template that is a text, as one."""
        if isinstance(template, Hole):
            return self._sign(template.name)
        if isinstance(template, Pieces):
            return "".join(self.coded(part) for part in template.parts)
        if not isinstance(template, str):
            raise NotATool(f"a text was expected in a step, not {type(template).__name__}")
        if any(is_hole(sign) or sign in (COMPUTED, LOOSE) for sign in template):
            raise NotATool("a step holds characters that nobody can read")
        return template

    def name(self, sign: str) -> str:
        return self.names[ord(sign) - _FIRST]

    def parts(self, coded: str) -> list[str | Hole]:
        """The texts and holes of a coded text, in their order."""
        found: list[str | Hole] = []
        for sign in coded:
            if is_hole(sign):
                found.append(Hole(self.name(sign)))
            elif found and isinstance(found[-1], str):
                found[-1] += sign
            else:
                found.append(sign)
        return found

    def _sign(self, name: str) -> str:
        if name not in self.names:
            self.names.append(name)
        return chr(_FIRST + self.names.index(name))


def is_hole(sign: str) -> bool:
    return _FIRST <= ord(sign) <= _LAST


def operations(tool: str, arguments: Template, code: Code) -> tuple[Operation, ...]:
    """What a use of a host's tool comes to; nothing for what only looks, `NotATool` for the unknown."""
    if not isinstance(arguments, Mapping):
        raise NotATool(f"the arguments of {tool} are no object")
    if tool in _SHELLS:
        return _shell(arguments, code)
    if tool in _PATCHES:
        return _patch(code.coded(_first(arguments, "input", "patch", "patchText")))
    if tool in _EDITS:
        return _edits(arguments, code)
    if tool in _WRITES:
        return (
            Operation("write", _path(arguments, code), code.coded(_first(arguments, "content"))),
        )
    if tool in READS:
        return (Operation("read", _path(arguments, code)),)
    if tool in _WITHOUT_EFFECT:
        return ()
    raise NotATool(f"what {tool} does is not known here: only its host can do it again")


def _shell(arguments: Mapping[str, Any], code: Code) -> tuple[Operation, ...]:
    command = _first(arguments, "command", "cmd")
    if arguments.get("run_in_background") or arguments.get("is_background"):
        raise NotATool("a command that goes on in the background has no end to wait for")
    folder = next(
        (arguments[n] for n in ("workdir", "directory", "dir_path") if arguments.get(n)), ""
    )
    where = code.coded(folder)
    if isinstance(command, Sequence) and not isinstance(command, str):
        words = [code.coded(word) for word in command]
        if (
            len(words) == 3
            and words[0].rsplit("/", 1)[-1] in ("bash", "sh", "zsh")
            and words[1] in ("-c", "-lc")
        ):
            return (Operation("shell", where, words[2]),)
        if words[:1] == ["apply_patch"] and len(words) == 2:
            return _patch(words[1])
        return (Operation("shell", where, " ".join(_quoted(word) for word in words)),)
    return (Operation("shell", where, code.coded(command)),)


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _edits(arguments: Mapping[str, Any], code: Code) -> tuple[Operation, ...]:
    path = _path(arguments, code)
    found = []
    for change in arguments.get("edits", [arguments]):
        old = code.coded(_first(change, "old_string", "oldString"))
        new = code.coded(_first(change, "new_string", "newString"))
        everywhere = bool(change.get("replace_all") or change.get("replaceAll"))
        if not old:
            found.append(Operation("write", path, new))
        else:
            several = change.get("expected_replacements") or 1
            found.append(Operation("edit", path, old, new, everywhere or several != 1))
    return tuple(found)


def _path(arguments: Mapping[str, Any], code: Code) -> str:
    return code.coded(_first(arguments, "file_path", "filePath", "path", "absolute_path"))


def _first(arguments: Mapping[str, Any], *names: str) -> Any:
    for name in names:
        if name in arguments:
            return arguments[name]
    raise NotATool(f"a step lacks {names[0]!r}")


def _patch(text: str) -> tuple[Operation, ...]:
    """A patch as Codex writes it: files added, deleted, and changed where the old lines stand once."""
    lines = text.strip("\n").split("\n")
    if not lines or lines[0].strip() != "*** Begin Patch" or lines[-1].strip() != "*** End Patch":
        raise NotATool("a patch that cannot be read")
    found: list[Operation] = []
    path, kind = "", ""
    old: list[str] = []
    new: list[str] = []

    def close() -> None:
        if kind == "Add":
            found.append(Operation("write", path, "".join(line + "\n" for line in new)))
        elif old or new:
            if not old:
                raise NotATool("a patch that adds lines and does not say where")
            found.append(Operation("edit", path, "\n".join(old), "\n".join(new)))
        old.clear()
        new.clear()

    for line in lines[1:-1]:
        if line.startswith("*** ") and " File: " in line:
            close()
            kind, path = line[4:].split(" File: ", 1)
            if kind == "Delete":
                found.append(Operation("delete", path))
            elif kind not in ("Add", "Update"):
                raise NotATool("a patch that cannot be read")
        elif line.startswith("*** Move to"):
            raise NotATool("a patch that moves a file is not simple enough")
        elif line.startswith("@@"):
            close()
        elif line[:1] in ("+", "-", " ", "") and kind in ("Add", "Update"):
            if line[:1] != "+":
                old.append(line[1:])
            if line[:1] != "-":
                new.append(line[1:])
        elif line.strip() != "*** End of File":
            raise NotATool("a patch that cannot be read")
    close()
    return tuple(found)
