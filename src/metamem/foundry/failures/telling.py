"""What resolved a failure, in a line for others, and by what two resolutions are one.

A line is made of calls that worked, never of what a tool said. It is empty where it must not be told:
where something was taken out of a call, where a call is a script, where the words command a model, and
where doing the same elsewhere could destroy something, send it away or switch off a check.
"""

import re
from collections.abc import Sequence

from metamem.core.ids import canonical_json
from metamem.foundry.failures.linking import Resolved
from metamem.foundry.failures.shell import line_of
from metamem.foundry.words import Use
from metamem.service.importing.commands import command_of, is_shell
from metamem.service.marks import is_fenced, unfenced
from metamem.service.writing.clean import one_line
from metamem.service.writing.trust import strength

_VALUE = 120  # characters of a changed argument
# What nobody should do because it once worked for somebody else.
_RISKY = re.compile(
    r"(?:^|[\s`])(?:sudo|su|doas|dd|mkfs\S*|shred|eval)\s|\brm\s+-\w*[rf]|\bgit\s+(?:reset\s+--hard|clean\b"
    r"|push\s+(?:\S+\s+)*(?:-f\b|--force|--mirror|--delete))"
    r"|--no-verify\b|--force\b|--insecure\b|--yes-i|--trusted-host\b|--break-system-packages\b|--allow-root\b"
    r"|--no-check\b|--skip-(?:test|check|valid)\w*|--dangerously\S*|\bcurl\b.*\s(?:(?-i:-k|-d|-F|-T)|--data\S*|--form|--upload\S*)\b"
    r"|\bwget\b.*--post|\bchmod\s+(?:-R\s+)?[0-7]?777\b|\b(?:drop|truncate)\s+(?:table|database|schema)\b|\bdelete\s+from\b"
    r"|\b(?:scp|sftp|nc|ncat|netcat|telnet)\s",
    re.IGNORECASE,
)


def is_tellable(text: str, *, rules: bool = False) -> bool:
    """Whether a text may be shown to an agent as something that happened. `rules`: it may read like a plain
    rule, as what people ask for does ("publish the docs"); never like a command to a model."""
    forged = is_fenced(text) or unfenced(text) != text
    orders = ("command",) if rules else ("command", "rule")
    return bool(text) and not forged and strength(text) not in orders and not _RISKY.search(text)


def told(found: Resolved) -> str:
    """What resolved it, in words; empty where that must not be told."""
    uses = (*found.steps, *((found.by,) if found.kind == "changed" else ()))
    if any(use.redacted for use in uses):
        return ""
    steps = [shown(use) for use in found.steps]
    if not all(steps):
        return ""
    after = f"after {', then '.join(steps)} " if steps else ""
    worked = "worked" if found.straight else "worked in the end, after other failures"
    if found.kind == "step":
        text = f"{after}the same call {worked}."
    else:
        changed = shown(found.by) if is_shell(found.by.tool) else _changes(found.use, found.by)
        if not changed:
            return ""
        text = f"{after}{changed} {worked}."
    text = text[0].upper() + text[1:]
    return text if is_tellable(text) else ""


def difference(found: Resolved) -> str:
    """By what two resolutions are the same, though files and numbers differ."""
    parts: Sequence[str] = [line_of(step) or step.tool for step in found.steps]
    if found.kind == "step":
        return canonical_json(parts)
    if is_shell(found.by.tool):
        before, after = line_of(found.use).split(), line_of(found.by).split()
        gone = [word for word in before if word not in after]
        new = [word for word in after if word not in before]
        return canonical_json([parts, gone, new])
    changed = [n for n in found.by.arguments if found.by.arguments[n] != found.use.arguments.get(n)]
    return canonical_json([parts, sorted(changed)])


def shown(use: Use) -> str:
    """A use in a few words; a shell's only where it is one plain command."""
    if is_shell(use.tool):
        command = command_of(use.tool, use.arguments)
        return f"`{one_line(command.line, 200)}`" if command is not None else ""
    target = next((str(value) for value in use.arguments.values() if isinstance(value, str)), "")
    return f"`{one_line(f'{use.tool} {target}', _VALUE)}`"


def _changes(failed: Use, worked: Use) -> str:
    """Which arguments were other, with their values where those are short."""
    names = [n for n in worked.arguments if worked.arguments[n] != failed.arguments.get(n)]
    changes = []
    for name in sorted(names):
        value = one_line(canonical_json(worked.arguments[name]), _VALUE + 1)
        changes.append(f"{name} = `{value}`" if len(value) <= _VALUE else f"another {name}")
    return f"`{worked.tool}` with {', '.join(changes)}" if changes else ""
