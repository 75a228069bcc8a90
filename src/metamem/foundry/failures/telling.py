"""What resolved a failure, in a line for others, and by what two resolutions are one.

A line is made of calls that worked, never of what a tool said: of a failure only the program, the class of the
error and its numbers are told, and of a call no sentence and no address that only an output brought in. A line
is empty where it must not be told: where something was taken out of a call, where a call is a script, where the
words command a model, and where doing the same elsewhere could destroy something, send it away, switch off a
check or approve something.
"""

import itertools
import re
from collections.abc import Sequence

from metamem.core.ids import canonical_json
from metamem.foundry.failures.linking import Resolved
from metamem.foundry.failures.shell import folder_of, line_of
from metamem.foundry.failures.signature import KINDS, Signature
from metamem.foundry.speech import INSTEAD, has_speech, is_speech, without_speech
from metamem.foundry.words import Trace, Use
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
    r"|\b(?:scp|sftp|nc|ncat|netcat|telnet)\s|\bmetamem\s+(?:promotions|hooks|erase|forget)\b"
    r"|\b(?:pkill|killall)\b|\bkill\s+(?:-\S+\s+)*[\d$%]",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"[\w.+@/-][\w.+@/:-]{0,39}(?: [\w.+@/:-]{1,40}){0,3}"
)  # of a program, or of a tool
_CLASS = re.compile(
    r"(?=.{1,40}$)(?:(?=.*[a-z])[A-Z][A-Za-z\d]*|[A-Z]+(?:_[A-Z]+)+)|[A-Z]{1,20}|[A-Z]{1,4}\d{3,5}"
)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+")
_PARTS = 6  # words of which a class is made, at most
_QUOTED = re.compile(r"`([^`]*)`")
_ADDRESS = re.compile(
    r"[a-z][a-z\d+.-]*://[^\s/'\"`<>]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.IGNORECASE
)


def is_tellable(text: str, *, rules: bool = False) -> bool:
    """Whether a text may be shown to an agent as something that happened. `rules`: it may read like a plain
    rule, as what people ask for does ("publish the docs"); never like a command to a model."""
    forged = is_fenced(text) or unfenced(text) != text
    orders = ("command",) if rules else ("command", "rule")
    return bool(text) and not forged and strength(text) not in orders and not _RISKY.search(text)


def is_fit(text: str) -> bool:
    """Whether what resolved a failure may be shown to an agent, whichever rules it was written by."""
    return is_tellable(text) and not any(map(has_speech, _QUOTED.findall(text)))


def plain(named: Signature) -> str:
    """A failure in words that no tool chose: the program, the class of the error where it is a name, and numbers."""
    who = named.program or named.tool
    marks = [named.error] if _is_class(named.error) else []
    marks += [f"HTTP {named.status}"] if named.status is not None else []
    marks += [f"exit {named.exit_code}"] if named.exit_code is not None else []
    return _failed(who) + (f" ({', '.join(marks)})" if marks else "")


def plain_of(text: str) -> str:
    """The same of a failure of which only the line for people is kept."""
    return _failed(text.partition(": ")[0])


def _failed(who: str) -> str:
    return f"`{who}` failed" if _NAME.fullmatch(who) and is_tellable(who) else "a call failed"


def _is_class(error: str) -> bool:
    """Whether it is one of the fixed kinds, or looks like a name that a program has for its errors."""
    parts = _PART.findall(error)
    return error in KINDS or (
        _CLASS.fullmatch(error) is not None
        and len(parts) <= _PARTS
        and is_tellable(" ".join(parts).lower())
    )


def told(found: Resolved, trace: Trace | None = None) -> str:
    """What resolved it, as a phrase; empty where that must not be told. `trace` is where it happened: an
    address that only an output brought in there is not handed on."""
    text = _phrase(found)
    return text if is_fit(text) and not (trace and _is_brought(text, found, trace)) else ""


def _phrase(found: Resolved) -> str:
    uses = (*found.steps, *((found.by,) if found.kind == "changed" else ()))
    if any(use.redacted for use in uses):
        return ""
    steps = [shown(use) for use in found.steps]
    if not all(steps):
        return ""
    done = ", then ".join(steps)
    end = "" if found.straight else ", in the end, after other failures"
    if found.kind == "step":
        return f"{done}, then the same call{end}"
    changed = _said(found) if is_shell(found.by.tool) else _changes(found.use, found.by)
    if not changed:
        return ""
    return f"{done}, then {changed}{end}" if done else f"{changed}{end}"


def _is_brought(text: str, found: Resolved, trace: Trace) -> bool:
    """Whether it names an address that an output brought in, and neither a prompt nor what failed."""
    addresses = {address.lower() for address in _ADDRESS.findall(text)}
    if not addresses:
        return False
    known = " ".join([canonical_json(found.use.arguments), *trace.prompts.values()]).lower()
    new = [address for address in addresses if address not in known]
    before = itertools.takewhile(lambda use: use.id != found.by.id, trace.uses)
    said = " ".join(f"{use.result} {use.error}" for use in before).lower() if new else ""
    return any(address in said for address in new)


def difference(found: Resolved) -> str:
    """By what two resolutions are the same, though files and numbers differ."""
    parts: Sequence[str] = [line_of(step) or step.tool for step in found.steps]
    if found.kind == "step":
        return canonical_json(parts)
    if is_shell(found.by.tool):
        before, after = line_of(found.use).split(), line_of(found.by).split()
        gone = [word for word in before if word not in after]
        new = [word for word in after if word not in before]
        folder = _moved(found)
        return canonical_json([parts, gone, [f"cd {folder}"] if folder else new])
    changed = [n for n in found.by.arguments if found.by.arguments[n] != found.use.arguments.get(n)]
    return canonical_json([parts, sorted(changed)])


def _said(found: Resolved) -> str:
    """The line that worked; with the change of folder before it where that is all that changed."""
    text, folder = shown(found.by), _moved(found)
    return f"`cd {one_line(folder, _VALUE)} && {text[1:]}" if text and folder else text


def _moved(found: Resolved) -> str:
    same = line_of(found.by) == line_of(found.use)
    return folder_of(found.by) if same and folder_of(found.by) != folder_of(found.use) else ""


def shown(use: Use) -> str:
    """A use in a few words; a shell's only where it is one plain command."""
    if is_shell(use.tool):
        command = command_of(use.tool, use.arguments)
        return f"`{one_line(without_speech(command.line), 200)}`" if command is not None else ""
    target = next((str(value) for value in use.arguments.values() if isinstance(value, str)), "")
    target = INSTEAD if is_speech(target) else target
    return f"`{one_line(f'{use.tool} {target}', _VALUE)}`"


def _changes(failed: Use, worked: Use) -> str:
    """Which arguments were other, with their values where those are short."""
    names = [n for n in worked.arguments if worked.arguments[n] != failed.arguments.get(n)]
    changes = []
    for name in sorted(names):
        value = one_line(canonical_json(worked.arguments[name]), _VALUE + 1)
        short = len(value) <= _VALUE and not is_speech(value) and not has_speech(value)
        changes.append(f"{name} = `{value}`" if short else f"another {name}")
    return f"`{worked.tool}` with {', '.join(changes)}" if changes else ""
