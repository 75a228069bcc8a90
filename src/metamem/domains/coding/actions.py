"""What an agent may write: one action as text, read into a name and its arguments.

An action is a line `NAME ARGUMENTS`, where `edit_file` and `create_file` may go on below it, or
one JSON object {"action": NAME, ...}. Both forms mean the same; JSON can say everything.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SEPARATOR = "====="  # a line of its own between the old and the new text of an edit

HELP: Mapping[str, str] = {
    "list_dir": "list_dir [PATH]",
    "read_file": "read_file PATH [FIRST_LINE [LINES]]",
    "search": "search WORDS",
    "edit_file": 'edit_file PATH {"find": OLD, "replace": NEW}',
    "create_file": 'create_file PATH {"content": TEXT}',
    "run_command": "run_command COMMAND",
    "undo": "undo",
    "submit": "submit",
}
_ARGUMENTS: Mapping[str, Mapping[str, type]] = {
    "list_dir": {"path": str},
    "read_file": {"path": str, "start": int, "lines": int},
    "search": {"query": str, "path": str},
    "edit_file": {"path": str, "find": str, "replace": str, "content": str, "line": int},
    "create_file": {"path": str, "content": str},
    "run_command": {"command": str},
    "undo": {},
    "submit": {},
}
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "read_file": ("path",),
    "search": ("query",),
    "edit_file": ("path",),
    "create_file": ("path", "content"),
    "run_command": ("command",),
}


class ActionError(ValueError):
    """An action that cannot be understood or carried out; the world answers with its words."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do."""

    name: str
    arguments: Mapping[str, Any]


def parse(text: str) -> Action:
    """The action a text stands for, or ActionError with what is wrong and how it goes."""
    stripped = text.strip()
    if stripped.startswith("{"):
        arguments = _json(stripped)
        name = arguments.pop("action", None)
        if not isinstance(name, str):
            raise ActionError('a JSON action needs an "action": ' + ", ".join(HELP))
    else:
        name, arguments = _line(stripped)
    return _checked(name, arguments)


def show(name: str, **arguments: Any) -> str:
    """An action as text that `parse` reads back: the JSON form, on one line."""
    return json.dumps({"action": name, **arguments}, ensure_ascii=False)


def _line(text: str) -> tuple[str, dict[str, Any]]:
    first, _, body = text.partition("\n")
    name, _, rest = first.partition(" ")
    rest = rest.strip()
    if name in ("edit_file", "create_file"):
        return name, _with_body(name, rest, body)
    if body.strip() and name == "run_command":
        return name, {"command": f"{rest}\n{body}"}
    if body.strip():
        raise ActionError("one action at a time")
    if name == "list_dir":
        return name, {"path": rest} if rest else {}
    if name == "read_file":
        return name, _reading(rest)
    if name == "search":
        return name, {"query": rest} if rest else {}
    if name == "run_command":
        return name, {"command": rest} if rest else {}
    if rest and name in HELP:
        raise ActionError(f"{name} takes nothing")
    return name, {}


def _reading(rest: str) -> dict[str, Any]:
    words = rest.split()
    numbers = [word for word in words[1:] if word.isdecimal() and word.isascii()]
    if len(words) > 3 or (len(numbers) != len(words) - 1 and words):
        raise ActionError(f"write: {HELP['read_file']}")
    keys = ("path", "start", "lines")
    return dict(zip(keys, [*words[:1], *(int(n[:9]) for n in numbers)], strict=False))


def _with_body(name: str, rest: str, body: str) -> dict[str, Any]:
    path, brace, inline = rest.partition("{")
    if brace:
        return {"path": path.strip(), **_json(brace + inline + ("\n" + body if body else ""))}
    if name == "create_file":
        return {"path": rest, "content": body}
    lines = body.split("\n")
    if lines.count(SEPARATOR) != 1:
        raise ActionError(
            f"below `edit_file PATH` write the old text, a line {SEPARATOR}, and the new text;"
            f" or write: {HELP['edit_file']}"
        )
    middle = lines.index(SEPARATOR)
    return {
        "path": rest,
        "find": "\n".join(lines[:middle]),
        "replace": "\n".join(lines[middle + 1 :]),
    }


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ActionError(f"this is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ActionError("an action is one JSON object")
    return value


def _checked(name: str, arguments: dict[str, Any]) -> Action:
    if name not in HELP:
        shown = name[:40] or "(empty)"
        raise ActionError(f"no action {shown!r}; there are: {', '.join(HELP)}")
    known = _ARGUMENTS[name]
    for key, value in arguments.items():
        if key not in known:
            raise ActionError(f"{name} has no {key[:40]!r}; write: {HELP[name]}")
        if type(value) is not known[key]:
            raise ActionError(f"{key} must be {'a number' if known[key] is int else 'a text'}")
    for key in _NEEDED.get(name, ()):
        if key not in arguments or (key != "content" and not arguments[key].strip()):
            raise ActionError(f"{name} needs {key}; write: {HELP[name]}")
    if name == "edit_file" and ("content" in arguments) == ("find" in arguments):
        raise ActionError(f"edit_file needs either find and replace, or content: {HELP[name]}")
    if name == "edit_file" and ("find" in arguments) != ("replace" in arguments):
        raise ActionError(f"edit_file needs both find and replace: {HELP[name]}")
    return Action(name, arguments)
