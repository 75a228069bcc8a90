"""What is put into each host's settings, and where they are.

Each host is given the same three things: a briefing when a conversation starts, what memory knows of
a prompt, and a note when a transcript has grown. The names of events, the units of time-outs and the
files are each host's own.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from metamem.core.errors import UsageError
from metamem.service.attach.places import Meeting, hook_command
from metamem.service.attach.settings import JsonPart, OwnFile, Part, TomlPart
from metamem.service.home import memory_folder
from metamem.service.importing import claude, codex, gemini, opencode
from metamem.service.importing.sources import known_host

Reach = Literal["user", "project"]
REACHES: tuple[Reach, ...] = ("user", "project")
SECONDS = 5  # that a host waits at most; the hook itself takes far less
SHORT_SECONDS = 2  # where a host allows no more

_CLAUDE = {
    "SessionStart": "briefing",
    "UserPromptSubmit": "recall",
    "Stop": "capture",
    "PreCompact": "capture",
    "SessionEnd": "capture",
}
_GEMINI = {
    "SessionStart": "briefing",
    "BeforeAgent": "recall",
    "AfterAgent": "capture",
    "PreCompress": "capture",
    "SessionEnd": "capture",
}
_REVIEW = (
    "Codex runs hooks only after you have reviewed them: start it and type /hooks."
    " Until then nothing is told or kept."
)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A host at one place: the files that are changed, and what its user has to know."""

    host: str
    reach: Reach
    parts: Sequence[Part]
    note: str = ""


def attachment(
    host: str,
    meeting: Meeting,
    *,
    reach: Reach = "user",
    folder: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Attachment:
    """What attaching a host means, for all projects of the user or for the one in a folder."""
    if reach not in REACHES:
        raise UsageError(f"settings reach {' or '.join(REACHES)}, not {reach!r}")
    known_host(host)
    root = (folder or Path.cwd()).resolve() if reach == "project" else None
    make = {
        claude.HOST: _claude,
        codex.HOST: _codex,
        gemini.HOST: _gemini,
        opencode.HOST: _opencode,
    }[host]
    return Attachment(
        host,
        reach,
        make(meeting, root, environment),
        _REVIEW if host == codex.HOST else "",
    )


def _claude(meeting: Meeting, root: Path | None, environment: Mapping[str, str]) -> list[Part]:
    home = claude.home(environment)
    about = home if environment.get("CLAUDE_CONFIG_DIR") else home.parent
    hooks = {
        event: {"hooks": [_hook(kind, claude.HOST, meeting, SECONDS)]}
        for event, kind in _CLAUDE.items()
    }
    servers: tuple[str, ...] = ("mcpServers",)
    if root is None:
        settings = home / "settings.json"
    else:  # of this user alone: the commands hold paths of this machine
        settings = root / ".claude" / "settings.local.json"
        servers = ("projects", str(root), *servers)
    server = {"type": "stdio", **_server(meeting)}
    return [
        JsonPart(settings, hooks),
        JsonPart(about / ".claude.json", {}, servers, server),
    ]


def _codex(meeting: Meeting, root: Path | None, environment: Mapping[str, str]) -> list[Part]:
    home = codex.home(environment) if root is None else root / ".codex"
    hooks = {}
    for event, kind in _CLAUDE.items():
        seconds = SHORT_SECONDS if event == "SessionEnd" else SECONDS
        hooks[event] = {"hooks": [_hook(kind, codex.HOST, meeting, seconds)]}
    return [JsonPart(home / "hooks.json", hooks), TomlPart(home / "config.toml", _server(meeting))]


def _gemini(meeting: Meeting, root: Path | None, environment: Mapping[str, str]) -> list[Part]:
    home = gemini.home(environment) if root is None else root / ".gemini"
    hooks = {
        event: {
            "hooks": [
                {"name": f"metamem-{kind}", **_hook(kind, gemini.HOST, meeting, SECONDS * 1000)}
            ]
        }
        for event, kind in _GEMINI.items()
    }
    servers = ("mcpServers",)
    return [JsonPart(home / "settings.json", hooks, servers, _server(meeting), comments=True)]


def _opencode(meeting: Meeting, root: Path | None, environment: Mapping[str, str]) -> list[Part]:
    given = environment.get("XDG_CONFIG_HOME")
    config = (Path(given) if given else Path.home() / ".config") / "opencode"
    plugins = config / "plugins"
    if root is not None:
        config, plugins = root, root / ".opencode" / "plugins"
    settings = next(
        (config / name for name in ("opencode.jsonc", "opencode.json") if (config / name).exists()),
        config / "opencode.json",
    )
    kinds = ("briefing", "recall", "capture")
    commands = {kind: hook_command(kind, opencode.HOST, meeting) for kind in kinds}
    source = Path(__file__).with_name("plugin.js").read_text(encoding="utf-8")
    plugin = source.replace("__COMMANDS__", json.dumps(commands, indent=2))
    plain = _server(meeting)
    server = {"type": "local", "command": [plain["command"], *plain["args"]], "enabled": True}
    if "env" in plain:
        server["environment"] = plain["env"]
    return [
        OwnFile(plugins / "metamem.js", plugin),
        JsonPart(settings, {}, ("mcp",), server, comments=True),
    ]


def _hook(kind: str, host: str, meeting: Meeting, timeout: int) -> dict[str, Any]:
    return {"type": "command", "command": hook_command(kind, host, meeting), "timeout": timeout}


def _server(meeting: Meeting) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "command": sys.executable,
        "args": ["-P", "-m", "metamem.cli.main", "mcp"],
    }
    if meeting.memories != memory_folder():
        entry["env"] = {"METAMEM_MEMORY": str(meeting.memories)}
    return entry
