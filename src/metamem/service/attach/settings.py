"""Files of a host's settings, with our entries and without them.

Our entries are known by their commands, so that those of an older version are found, too. What an
entry needs around it is made, and goes with it; what was there stays.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from metamem.core.errors import DataError
from metamem.core.ids import canonical_json
from metamem.service.attach.jsonc import Document
from metamem.service.attach.places import is_own, memories_of
from metamem.service.home import MEMORY_VARIABLE

SERVER = "metamem"  # the name that the MCP server has in a host's settings
_COMMANDS = re.compile(r"^const COMMANDS = (\{.*?^\})", re.DOTALL | re.MULTILINE)  # of the plug-in
_BLOCK = re.compile(r"^# metamem begins.*?^# metamem ends[^\n]*\n?", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Used:
    """The folders of memories that our entries of a file name."""

    hooks: frozenset[str] = frozenset()
    server: str | None = None  # None where there is no server of ours; empty where it names none
    taken: bool = False  # a server of the user's own has our name


class Part(Protocol):
    """One file. Texts are None where there is no file."""

    @property
    def path(self) -> Path: ...

    def attached(self, text: str | None) -> str | None:
        """The file with our entries, and with no other of ours. None where there is no file, and nothing
        to put into one. `DataError` where it cannot be read."""
        ...

    def detached(self, text: str, made: Sequence[str] | None = None) -> str | None:
        """The file without them. `made` names what was made around them, if that is known."""
        ...

    def made(self, text: str | None) -> list[str]:
        """What `attached` would make around our entries."""
        ...

    def present(self, text: str | None) -> list[str]:
        """Which of our entries are there, in words."""
        ...

    def memories(self, text: str) -> Used:
        """Which memories they use, of this version or another."""
        ...


@dataclass(frozen=True, slots=True)
class JsonPart:
    """A JSON file with hooks by event, or with MCP servers, or both."""

    path: Path
    hooks: Mapping[str, Mapping[str, Any]]  # a group for each event
    servers: tuple[str, ...] = ()  # where MCP servers stand
    server: Mapping[str, Any] | None = None  # None where ours is not wanted
    comments: bool = False

    def attached(self, text: str | None) -> str | None:
        if not self.hooks and self.server is None:
            return None if text is None else self.detached(text, ())
        text = (self.detached(text, ()) if text and text.strip() else None) or "{}\n"
        for event, group in self.hooks.items():
            text = self._put(text, ("hooks",), event, [])
            text = self._read(text).added(("hooks", event), None, group)
        if self.server is not None:
            *around, last = self.servers
            text = self._put(text, around, last, {})
            if SERVER not in self._read(text).get(self.servers):
                text = self._read(text).added(self.servers, SERVER, self.server)
        return text

    def detached(self, text: str, made: Sequence[str] | None = None) -> str | None:
        if not text.strip():
            return text  # an empty file is taken for one without settings
        emptied: list[tuple[str, ...]] = []
        hooks = self._read(text).get(("hooks",))
        for event in list(hooks) if isinstance(hooks, dict) else []:
            text, found = self._without_hooks(text, event)
            if found:
                emptied += [("hooks", event), ("hooks",)]
        if self.servers and is_own_server(self._read(text).get((*self.servers, SERVER))):
            text = self._read(text).removed((*self.servers, SERVER))
            emptied += [self.servers[:n] for n in range(len(self.servers), 0, -1)]
        for path in sorted(set(emptied), key=len, reverse=True):
            may = made is None or ".".join(path) in made
            if may and self._read(text).get(path) in ([], {}):
                text = self._read(text).removed(path)
        return text

    def made(self, text: str | None) -> list[str]:
        document = self._read(text) if text is not None and text.strip() else self._read("{}")
        paths = [("hooks",), *(("hooks", event) for event in self.hooks)] if self.hooks else []
        if self.server is not None:
            paths += [self.servers[: n + 1] for n in range(len(self.servers))]
        return [".".join(path) for path in paths if document.get(path) is None]

    def present(self, text: str | None) -> list[str]:
        if text is None or not text.strip():
            return []
        document = self._read(text)
        found = [event for event in self.hooks if any(_own_hooks(document, event))]
        if self.server is not None and is_own_server(document.get((*self.servers, SERVER))):
            found.append("MCP")
        return found

    def says_the_same(self, one: str, other: str) -> bool:
        """Whether two texts set the same, however they are laid out: hosts write their settings anew, and
        others put hooks beside ours, whose order among them says nothing."""
        found = []
        for text in (one, other):
            plain = dict(self._read(text).root.plain) if text.strip() else {}
            hooks = plain.pop("hooks", None) or {}
            found.append(
                (plain, {event: sorted(map(canonical_json, hooks[event])) for event in hooks})
            )
        return found[0] == found[1]

    def memories(self, text: str) -> Used:
        if not text.strip():
            return Used()
        document = self._read(text)
        events = document.get(("hooks",))
        commands = [
            document.get(("hooks", event, group, "hooks", place, "command"))
            for event in (events if isinstance(events, dict) else ())
            for group, place in _own_hooks(document, event)
        ]
        entry = document.get((*self.servers, SERVER)) if self.servers else None
        return Used(_folders(commands), _server_folder(entry), _is_taken(entry))

    def _put(self, text: str, path: Sequence[str], key: str, empty: Any) -> str:
        """The text with a container at a place, and all around it."""
        for depth in range(len(path)):
            text = self._put_one(text, path[:depth], path[depth], {})
        return self._put_one(text, path, key, empty)

    def _put_one(self, text: str, path: Sequence[str], key: str, empty: Any) -> str:
        document = self._read(text)
        there = document.get((*path, key))
        if there is None and document.find((*path, key)) is None:
            return document.added(path, key, empty)
        if type(there) is not type(empty):
            raise DataError(
                f"{self.path}: {'.'.join((*path, key))} is not what its program expects",
                hint="nothing was changed; mend it and try again",
            )
        return text

    def _without_hooks(self, text: str, event: str) -> tuple[str, bool]:
        found = False
        while own := next(_own_hooks(self._read(text), event), None):
            found = True
            group, place = own
            text = self._read(text).removed(("hooks", event, group, "hooks", place))
            if not self._read(text).get(("hooks", event, group, "hooks")):
                text = self._read(text).removed(("hooks", event, group))
        return text, found

    def _read(self, text: str) -> Document:
        try:
            document = Document(text, comments=self.comments)
        except DataError as error:
            raise DataError(
                f"{self.path}: {error.message}", hint="nothing was changed; mend it and try again"
            ) from None
        if not isinstance(document.root.plain, dict):
            raise DataError(f"{self.path} holds no JSON object", hint="nothing was changed")
        return document


def is_whole(part: Part, text: str | None) -> bool:
    """Whether all that is ours is in a file, as it is put there today."""
    made = part.attached(text)
    if made == text or made is None or text is None:
        return made == text
    return isinstance(part, JsonPart) and part.says_the_same(made, text)


@dataclass(frozen=True, slots=True)
class TomlPart:
    """A TOML file with an MCP server, in a block of lines of its own at the end."""

    path: Path
    server: Mapping[str, Any] | None  # None where ours is not wanted

    def attached(self, text: str | None) -> str | None:
        if self.server is None:
            return None if text is None else self.detached(text)
        text = self.detached(text or "") or ""
        if SERVER in _servers(self._read(text)):
            return text  # the user's own
        newline = "\r\n" if "\r\n" in text else "\n"
        lead = newline if text and not text.endswith("\n") else ""
        lines = ["# metamem begins", f"[mcp_servers.{SERVER}]"]
        for name, value in self.server.items():
            if not isinstance(value, Mapping):
                lines.append(f"{name} = {_toml(value)}")
        for name, value in self.server.items():
            if isinstance(value, Mapping):
                lines.append(f"[mcp_servers.{SERVER}.{name}]")
                lines += [f"{key} = {_toml(one)}" for key, one in value.items()]
        lines.append("# metamem ends")
        made = text + lead + newline.join(lines) + newline
        self._read(made)
        return made

    def detached(self, text: str, made: Sequence[str] | None = None) -> str | None:
        self._read(text)
        text = _BLOCK.sub("", text)
        self._read(text)
        return text

    def made(self, text: str | None) -> list[str]:
        return []

    def present(self, text: str | None) -> list[str]:
        if text is None or self.server is None:
            return []
        return ["MCP"] if is_own_server(_servers(self._read(text)).get(SERVER)) else []

    def memories(self, text: str) -> Used:
        entry = _servers(self._read(text)).get(SERVER)
        return Used(server=_server_folder(entry), taken=_is_taken(entry))

    def _read(self, text: str) -> Mapping[str, Any]:
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise DataError(
                f"{self.path} is not TOML, or would not be with our lines: {error}",
                hint="nothing was changed; mend it and try again",
            ) from None


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that is all ours, known by its first line."""

    path: Path
    content: str

    def attached(self, text: str | None) -> str | None:
        if text and not self._is_own(text):
            raise DataError(f"{self.path} is there already and is not ours", hint="move it away")
        return self.content

    def detached(self, text: str, made: Sequence[str] | None = None) -> str | None:
        return None if self._is_own(text) else text

    def made(self, text: str | None) -> list[str]:
        return []

    def present(self, text: str | None) -> list[str]:
        return ["plug-in"] if text and self._is_own(text) else []

    def memories(self, text: str) -> Used:
        found = _COMMANDS.search(text) if self._is_own(text) else None
        try:
            commands = json.loads(found[1]) if found else {}
        except ValueError:
            commands = {}
        return Used(_folders(commands.values()))

    def _is_own(self, text: str) -> bool:
        return text.split("\n")[0] == self.content.split("\n")[0]


def is_own_server(entry: Any) -> bool:
    """Whether an MCP server of a host's settings is the one that we put there."""
    if not isinstance(entry, Mapping):
        return False
    command, arguments = entry.get("command"), entry.get("args", [])
    words = [*(command if isinstance(command, list) else [command]), *arguments]
    return "metamem.cli.main" in words and words[-1] == "mcp"


def _is_taken(entry: Any) -> bool:
    return entry is not None and not is_own_server(entry)


def _server_folder(entry: Any) -> str | None:
    """The folder that our MCP server is told; empty where it is told none, None where it is not ours."""
    if not is_own_server(entry):
        return None
    told = entry.get("env", entry.get("environment"))
    named = told.get(MEMORY_VARIABLE) if isinstance(told, Mapping) else None
    return named if isinstance(named, str) else ""


def _folders(commands: Iterable[Any]) -> frozenset[str]:
    found = (memories_of(command) for command in commands if is_own(command))
    return frozenset(folder for folder in found if folder is not None)


def _own_hooks(document: Document, event: str) -> Any:
    groups = document.get(("hooks", event))
    for number, group in enumerate(groups if isinstance(groups, list) else []):
        hooks = group.get("hooks") if isinstance(group, dict) else None
        for place, hook in enumerate(hooks if isinstance(hooks, list) else []):
            if isinstance(hook, dict) and is_own(hook.get("command")):
                yield number, place


def _servers(document: Mapping[str, Any]) -> Mapping[str, Any]:
    servers = document.get("mcp_servers", {})
    return servers if isinstance(servers, Mapping) else {}


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    # TOML's basic strings are JSON's, but for one letter.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
