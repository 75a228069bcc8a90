"""Every command: where it is written, and where it stands in the help.

A module is loaded when one of its commands is named: `metamem recall` need not wait for all that
`metamem learn` knows. Help loads them all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from inspect import getdoc
from typing import Any

import typer

MEMORY = "Memory service"
FOUNDRY = "Foundry"
_ALONE = ("--debug", "--no-debug")  # what may stand before a command and changes nothing in it


@dataclass(frozen=True)
class Command:
    """A command or a group of commands: what it is called, and by whom it is written."""

    name: str
    module: str  # in this package
    attribute: str
    examples: str = ""  # the attribute with them
    panel: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def add(self, to: typer.Typer) -> None:
        module = import_module(f"metamem.cli.{self.module}")
        found = getattr(module, self.attribute)
        if isinstance(found, typer.Typer):
            for command in found.registered_commands:
                command.help = flowed(command.help or getdoc(command.callback))
            to.add_typer(found, name=self.name, rich_help_panel=self.panel)
            return
        to.command(
            self.name,
            help=flowed(getdoc(found)),
            epilog=getattr(module, self.examples) if self.examples else None,
            rich_help_panel=self.panel,
            context_settings=dict(self.settings) or None,
        )(found)


def flowed(text: str | None) -> str:
    """Help whose paragraphs are a line each: the screen breaks them, not the source that they stand in."""
    paragraphs = (text or "").split("\n\n")
    return "\n\n".join(" ".join(each.split()) for each in paragraphs)


def _memory(name: str, module: str, attribute: str = "", examples: str = "") -> Command:
    return Command(name, module, attribute or name, examples, MEMORY)


def _foundry(name: str, module: str, attribute: str = "", examples: str = "") -> Command:
    return Command(name, module, attribute or name, examples, FOUNDRY)


COMMANDS = (
    Command("learn", "learn", "learn", "EXAMPLES"),
    Command("evaluate", "evaluate", "evaluate", "EVALUATE_EXAMPLES"),
    Command("compare", "evaluate", "compare", "COMPARE_EXAMPLES"),
    Command("curve", "sweeps", "curve", "CURVE_EXAMPLES"),
    Command("transfer", "sweeps", "transfer", "TRANSFER_EXAMPLES"),
    Command("experiment", "experiment", "app"),
    Command("handoff", "handoff", "app"),
    Command("archive", "archive", "app"),
    Command("runs", "runs", "app"),
    Command("report", "runs", "report", "REPORT_EXAMPLES"),
    Command("promotions", "promotions", "app"),
    Command("reads", "reads", "reads"),
    Command("domains", "catalogue", "domains"),
    Command("designs", "catalogue", "designs"),
    Command("agents", "catalogue", "agents"),
    Command("models", "models", "app"),
    Command("doctor", "doctor", "doctor"),
    _memory("remember", "memory", examples="REMEMBER_EXAMPLES"),
    _memory("recall", "memory", examples="RECALL_EXAMPLES"),
    _memory("briefing", "memory"),
    _memory("feedback", "memory", examples="FEEDBACK_EXAMPLES"),
    _memory("why", "memory"),
    _memory("list", "memory_facts", "list_facts", "LIST_EXAMPLES"),
    _memory("edit", "memory_facts", examples="EDIT_EXAMPLES"),
    _memory("forget", "memory_facts"),
    _memory("restore", "memory_facts"),
    _memory("history", "memory_facts"),
    _memory("erase", "memory_facts", examples="ERASE_EXAMPLES"),
    _memory("export", "memory_transfer", examples="EXPORT_EXAMPLES"),
    _memory("import", "importing", "import_sources", "IMPORT_EXAMPLES"),
    _memory("attach", "attach", examples="ATTACH_EXAMPLES"),
    _memory("detach", "attach"),
    _memory("status", "attach"),
    _memory("daemon", "attach"),
    _memory("advise", "served", examples="ADVISE_EXAMPLES"),
    _memory("experience", "served", examples="EXPERIENCE_EXAMPLES"),
    _memory("served", "served", "app"),
    _memory("route", "route", "app"),
    _memory("reindex", "memory_transfer"),
    _memory("enrich", "memory_enrich", examples="EXAMPLES"),
    _memory("knowledge", "knowledge", "app"),
    _memory("scopes", "memory_people"),
    _memory("people", "memory_people"),
    _memory("keys", "memory_keys"),
    _memory("audit", "memory_keys"),
    _memory("serve", "serve", examples="EXAMPLES"),
    _memory("mcp", "memory_transfer", examples="MCP_EXAMPLES"),
    _foundry("import-sessions", "import_sessions", "import_sessions", "EXAMPLES"),
    _foundry("hooks", "hooks", "app"),
    _foundry("record", "record", examples="EXAMPLES"),
    _foundry("foundry", "foundry", "app"),
    _foundry("tools", "tools", "app"),
    Command(
        "tool",
        "tools",
        "tool",
        "TOOL_EXAMPLES",
        FOUNDRY,
        {"allow_interspersed_args": False, "ignore_unknown_options": True},
    ),
)


def needed(arguments: Sequence[str]) -> Iterable[Command]:
    """The commands that arguments can mean: the one they name, or all where they ask about all."""
    rest = [each for each in arguments if each not in _ALONE]
    if rest[:1] == ["--version"]:
        return ()
    return [each for each in COMMANDS if rest[:1] == [each.name]] or COMMANDS
