"""What is put into each host's settings, and where they are.

A host is given one of two things, or both. *Memory*: a briefing when a conversation starts, what memory
knows of a prompt, and an MCP server. *Tools*: what helped before when a tool fails, and the same at the
start. Either way a note is left when a transcript has grown. The names of events, the units of time-outs
and the files are each host's own.
"""

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from metamem.core.errors import MetamemError, UsageError
from metamem.service.attach.places import PROGRAM, Meeting, hook_command
from metamem.service.attach.settings import SERVER, JsonPart, OwnFile, Part, TomlPart
from metamem.service.home import MEMORY_VARIABLE, usual_folder
from metamem.service.importing import claude, codex, gemini, opencode
from metamem.service.importing.sources import known_host

Reach = Literal["user", "project"]
REACHES: tuple[Reach, ...] = ("user", "project")
What = Literal["memory", "tools"]
ALL: frozenset[What] = frozenset(("memory", "tools"))
SECONDS = 5  # that a host waits at most; the hook itself takes far less
SHORT_SECONDS = 2  # where a host allows no more

# What is asked for at a moment, for either of the two.
_START: Mapping[What, str] = {"memory": "briefing", "tools": "start"}
_PROMPT: Mapping[What, str] = {"memory": "recall", "tools": "prompt"}
_OF: Mapping[str, What] = {
    "briefing": "memory",
    "recall": "memory",
    "start": "tools",
    "prompt": "tools",
    "before": "tools",
    "after": "tools",
}
_ASKED = re.compile(rf"/{re.escape(PROGRAM)}\W*\s([a-z+]+)\s")
_Asked = Mapping[What, str] | str
_CLAUDE: Mapping[str, _Asked] = {
    "SessionStart": _START,
    "UserPromptSubmit": _PROMPT,
    "Stop": "capture",
    "PreCompact": "capture",
    "SessionEnd": "capture",
}
_GEMINI: Mapping[str, _Asked] = {
    "SessionStart": _START,
    "BeforeAgent": _PROMPT,
    "AfterAgent": "capture",
    "PreCompress": "capture",
    "SessionEnd": "capture",
}
# Events of tools: which tools, and what is asked for. Only where something can come of it: a failure is
# told by Claude Code with an event of its own, by Gemini CLI with the result, and by Codex not at all, so
# that its transcript is looked at before the next use. What Gemini's BeforeTool is told reaches no model.
_CLAUDE_TOOLS = {
    "PreToolUse": ("Bash|mcp__.*", "before"),
    "PostToolUse": ("Bash|Edit|MultiEdit|Write|NotebookEdit|mcp__.*", "capture"),
    "PostToolUseFailure": ("*", "after"),
}
_CODEX_TOOLS = {
    "PreToolUse": ("Bash|apply_patch|mcp__.*", "before"),
    "PostToolUse": ("Bash|apply_patch|mcp__.*", "capture"),
}
_GEMINI_TOOLS = {
    "AfterTool": ("run_shell_command|write_file|replace|read_file|web_fetch|mcp_.*", "after"),
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
    what: frozenset[What] = ALL,
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
        make(meeting, what, root, environment),
        _REVIEW if host == codex.HOST else "",
    )


def installed(attached: Attachment) -> frozenset[What]:
    """Which of the two a host has, of this version or another, as far as its files can be read."""
    found: set[What] = set()
    for part in attached.parts:
        try:
            text = part.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        asked = (kind for kinds in _ASKED.findall(text) for kind in kinds.split("+"))
        found |= {_OF[kind] for kind in asked if kind in _OF}
    return frozenset(found)


def apart(attached: Attachment) -> str:
    """What there is to say where a host's hooks and its MCP server use different memories; empty where they
    do not, or its files cannot be read."""
    hooks: set[Path] = set()
    servers: set[Path] = set()
    for part in attached.parts:
        try:
            text = part.path.read_text(encoding="utf-8")
            used = part.memories(text)
        except (MetamemError, OSError, UnicodeDecodeError):
            continue
        hooks |= {Path(each) for each in used.hooks}
        if used.server is not None:
            servers.add(Path(used.server).expanduser() if used.server else usual_folder())
    if not hooks or not servers or hooks == servers:
        return ""
    own, other = (", ".join(sorted(map(str, each))) for each in (hooks, servers))
    return (
        f"its hooks use the memory in {own}, its MCP server the one in {other}:"
        f" metamem attach {attached.host} with the folder that is meant makes them one"
    )


def taken(attached: Attachment) -> str:
    """What there is to say where an MCP server of the user's own has the name that ours would have."""
    for part in attached.parts:
        try:
            if part.memories(part.path.read_text(encoding="utf-8")).taken:
                return (
                    f"{part.path} has an MCP server called {SERVER} that is not ours: it stays, and the"
                    " agent gets no tools of memory; under another name it would"
                )
        except (MetamemError, OSError, UnicodeDecodeError):
            continue
    return ""


def _asked(of: _Asked, what: frozenset[What]) -> str:
    """What a hook asks for; both at one moment are one question."""
    return of if isinstance(of, str) else "+".join(of[each] for each in sorted(what))


def _events(
    what: frozenset[What],
    usual: Mapping[str, _Asked],
    tools: Mapping[str, tuple[str, str]],
) -> dict[str, tuple[str, dict[str, Any]]]:
    """By event: what is asked for, and the group of hooks without its time-out."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for event, of in usual.items():
        found[event] = (_asked(of, what), {})
    for event, (matcher, kind) in tools.items() if "tools" in what else ():
        found[event] = (kind, {"matcher": matcher})
    return found


def _claude(
    meeting: Meeting, what: frozenset[What], root: Path | None, environment: Mapping[str, str]
) -> list[Part]:
    home = claude.home(environment)
    about = home if environment.get("CLAUDE_CONFIG_DIR") else home.parent
    hooks = {
        event: group | {"hooks": [_hook(kind, claude.HOST, meeting, SECONDS)]}
        for event, (kind, group) in _events(what, _CLAUDE, _CLAUDE_TOOLS).items()
    }
    servers: tuple[str, ...] = ("mcpServers",)
    if root is None:
        settings = home / "settings.json"
    else:  # of this user alone: the commands hold paths of this machine
        settings = root / ".claude" / "settings.local.json"
        servers = ("projects", str(root), *servers)
    server = {"type": "stdio", **_server(meeting)} if "memory" in what else None
    return [
        JsonPart(settings, hooks),
        JsonPart(about / ".claude.json", {}, servers, server),
    ]


def _codex(
    meeting: Meeting, what: frozenset[What], root: Path | None, environment: Mapping[str, str]
) -> list[Part]:
    home = codex.home(environment) if root is None else root / ".codex"
    hooks = {}
    for event, (kind, group) in _events(what, _CLAUDE, _CODEX_TOOLS).items():
        seconds = SHORT_SECONDS if event == "SessionEnd" else SECONDS
        hooks[event] = group | {"hooks": [_hook(kind, codex.HOST, meeting, seconds)]}
    server = _server(meeting) if "memory" in what else None
    return [JsonPart(home / "hooks.json", hooks), TomlPart(home / "config.toml", server)]


def _gemini(
    meeting: Meeting, what: frozenset[What], root: Path | None, environment: Mapping[str, str]
) -> list[Part]:
    home = gemini.home(environment) if root is None else root / ".gemini"
    hooks = {
        event: group
        | {
            "hooks": [
                {"name": f"metamem-{kind}", **_hook(kind, gemini.HOST, meeting, SECONDS * 1000)}
            ]
        }
        for event, (kind, group) in _events(what, _GEMINI, _GEMINI_TOOLS).items()
    }
    server = _server(meeting) if "memory" in what else None
    return [JsonPart(home / "settings.json", hooks, ("mcpServers",), server, comments=True)]


def _opencode(
    meeting: Meeting, what: frozenset[What], root: Path | None, environment: Mapping[str, str]
) -> list[Part]:
    given = environment.get("XDG_CONFIG_HOME")
    config = (Path(given) if given else Path.home() / ".config") / "opencode"
    plugins = config / "plugins"
    if root is not None:
        config, plugins = root, root / ".opencode" / "plugins"
    settings = next(
        (config / name for name in ("opencode.jsonc", "opencode.json") if (config / name).exists()),
        config / "opencode.json",
    )
    kinds = {"start": _asked(_START, what), "prompt": _asked(_PROMPT, what), "capture": "capture"}
    if "tools" in what:
        kinds |= {"before": "before", "after": "after"}
    commands = {
        moment: hook_command(kind, opencode.HOST, meeting) for moment, kind in kinds.items()
    }
    source = Path(__file__).with_name("plugin.js").read_text(encoding="utf-8")
    plugin = source.replace("__COMMANDS__", json.dumps(commands, indent=2))
    server: dict[str, Any] | None = None
    if "memory" in what:
        plain = _server(meeting)
        server = {
            "type": "local",
            "command": [plain["command"], *plain["args"]],
            "enabled": True,
            "environment": plain["env"],
        }
    return [
        OwnFile(plugins / "metamem.js", plugin),
        JsonPart(settings, {}, ("mcp",), server, comments=True),
    ]


def _hook(kind: str, host: str, meeting: Meeting, timeout: int) -> dict[str, Any]:
    return {"type": "command", "command": hook_command(kind, host, meeting), "timeout": timeout}


def _server(meeting: Meeting) -> dict[str, Any]:
    """The MCP server. It is told the folder of the hooks: whoever starts it may have another environment
    than who attached, and without the folder it would begin a memory of its own."""
    return {
        "command": sys.executable,
        "args": ["-P", "-m", "metamem.cli.main", "mcp"],
        "env": {MEMORY_VARIABLE: str(meeting.memories)},
    }
