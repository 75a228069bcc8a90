"""What came of a use, and whether two uses were meant to do the same.

Refusals by the user and interruptions are no failures, nor is a search that finds nothing. A command that
ended well and yet fell back on what it was to do otherwise, or printed a traceback, has not worked. Two calls
of a tool have one intent where they have the same target and otherwise resemble one another; a target may have
changed where the error names it, or where the new one is the old one put right.
"""

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any, Literal

from metamem.core.ids import canonical_json, content_id
from metamem.foundry.failures.shell import line_of, main_command, named, only_looks
from metamem.foundry.failures.signature import is_stopped, said, telling_line
from metamem.foundry.failures.stages import Stage, failing, fallbacks, finds_nothing, stages
from metamem.foundry.words import Use
from metamem.service.importing.commands import is_shell

Came = Literal["worked", "failed", "refused", "unknown"]

ALIKE = 0.5  # of what is no target
NEAR = 0.8  # of a target that was put right
_COMPARED = 4000  # characters of arguments that are held against one another

_REFUSED = re.compile(
    r"user (?:doesn't|does not|didn't) want|(?:rejected|denied|declined|cancell?ed|aborted|interrupted) by (?:the )?user"
    r"|user (?:rejected|denied|declined|cancell?ed|aborted|interrupted)|tool use was rejected|request interrupted"
    r"|permission to use \S+ (?:has been |was )?denied",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"\s*(?:error|failed|exception)\b\s*[:!-]|\s*\{\s*\"(?:error|exception)\"\s*:\s*[\"{]",
    re.IGNORECASE,
)
_RAISED = re.compile(r"^Traceback \(most recent call last\):", re.MULTILINE)
_TIMED = re.compile(r"timeout\s")
_LEAVES_OUT = re.compile(r"--(?:no|skip|without|exclude|only)\b")
_ECHO = re.compile(r"^(?:echo|printf)\s+(?:-\w+\s+)*")
_ABSENT = re.compile(r"no such file|not found|does not exist|no matches", re.IGNORECASE)
_TARGET = re.compile(
    r"(?:^|_)(?:path|file|filename|url|uri|id|ids|name|repo|owner|project|table|key|number|branch|ref|target|host"
    r"|channel|bucket|database|resource|user|email)$",
    re.IGNORECASE,
)
_LOOKING = re.compile(
    r"^(?:\w+__)*(?:get|list|read|search|find|view|show|fetch|look|grep|glob|ls)", re.IGNORECASE
)
_WORD = re.compile(r"[a-z]{4,}")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")


def came(use: Use) -> Came:
    """What came of a use, by the best sign there is."""
    output = said(use)
    failed = use.failed
    if failed is None and use.exit_code is not None:
        failed = use.exit_code != 0
    if failed is None and (use.error.strip() or _ERROR.match(use.result)):
        failed = True
    if failed:
        if _REFUSED.search(output[:400]):
            return "refused"
        if only_looks(use) and (not output.strip() or _ABSENT.search(output)):
            return "unknown"  # that nothing is there is an answer
        if use.exit_code == 1 and finds_nothing(line_of(use), output):
            return "unknown"
        return "failed"
    if failed is None and (is_shell(use.tool) or not use.result.strip()):
        return "unknown"
    return "unknown" if is_shell(use.tool) and _hides(use) else "worked"


def same_call(one: Use, other: Use) -> bool:
    if is_shell(one.tool) and is_shell(other.tool):
        return bool(line_of(one)) and line_of(one) == line_of(other)
    return one.tool == other.tool and _json(one.arguments) == _json(other.arguments)


class Intent:
    """What a failed use was meant to do, to hold later ones against."""

    def __init__(self, failed: Use) -> None:
        self.failed = failed
        self.telling = telling_line(failed)
        # The stages of a failed line that must work.
        self.wanted: tuple[Stage, ...] = ()
        if is_shell(failed.tool):
            self.wanted = failing(line_of(failed), self.telling)

    def is_of(self, later: Use) -> bool:
        """Whether a later use was meant to do the same."""
        if same_call(self.failed, later):
            return True
        if is_shell(self.failed.tool):
            return is_shell(later.tool) and self._is_done_by(later)
        return self.failed.tool == later.tool and _same_target(self.failed, later)

    def _is_done_by(self, later: Use) -> bool:
        given = stages(line_of(later))
        if is_stopped(self.telling) and any(
            stage.program == one.program and _is_less(one, stage)
            for one in self.wanted
            for stage in given
        ):
            return False
        return bool(self.wanted) and all(
            any(stage.does(one) for stage in given) for one in self.wanted
        )


def same_intent(failed: Use, later: Use) -> bool:
    """Whether a later use was meant to do what a failed one was."""
    return Intent(failed).is_of(later)


def intent_key(use: Use) -> str:
    """What a use was about, by which a lesson of one is known to be of use to another: the program of a
    shell's line, or the tool with its targets. No word of it can be read from it."""
    if is_shell(use.tool):
        command = main_command(line_of(use))
        return content_id("shell", named(command) if command is not None else "")
    targets = {n: v for n, v in use.arguments.items() if _TARGET.search(n)}
    return content_id(use.tool.lower(), _json(targets))


def _hides(use: Use) -> bool:
    """Whether a command ended well because somebody had thought of its failing."""
    output = use.result
    if _RAISED.search(output) and not only_looks(use):
        return True
    line, said = line_of(use), " ".join(output.split())
    if any(stage.piped and _TIMED.match(stage.line) for stage in stages(line)):
        return True
    fallen = (stage.line for stage in fallbacks(line) if stage.program in ("echo", "printf"))
    return any((text := _ECHO.sub("", one).strip()) and text in said for one in fallen)


def _is_less(wanted: Stage, given: Stage) -> bool:
    """Whether what took too long was then given more to go by, or told to leave something out."""
    narrower = len(given.command.words) > len(wanted.command.words)
    return narrower or any(map(_LEAVES_OUT.match, given.options - wanted.options))


def _same_target(failed: Use, later: Use) -> bool:
    given, now = dict(failed.arguments), dict(later.arguments)
    targets = [
        name for name in given if _TARGET.search(name) and isinstance(given[name], str | int)
    ]
    error = set(_WORD.findall(said(failed).lower()))
    anchored = not targets
    for name in targets:
        before, after = given.pop(name), now.pop(name, None)
        if before == after or _put_right(before, after):
            anchored = True
        elif _LOOKING.match(failed.tool) or not _is_named(name, before, error):
            return False
    if not anchored or _only_leaves_out(given, now):
        return False
    return not (given and now) or _alike(given, now) >= ALIKE


def _only_leaves_out(given: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether nothing changed but that lists have lost items: what fails was left out, and not done."""
    changed = [n for n in given.keys() | now.keys() if given.get(n) != now.get(n)]
    return bool(changed) and all(
        isinstance(before := given.get(n), list)
        and isinstance(after := now.get(n), list)
        and len(after) < len(before)
        and all(item in before for item in after)
        for n in changed
    )


def _put_right(before: Any, after: Any) -> bool:
    """The same file in another folder, or another spelling of the same name. Numbers have none."""
    if not (isinstance(before, str) and isinstance(after, str)):
        return False
    ends = [text.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] for text in (before, after)]
    if "/" in before + after and ends[0] == ends[1]:
        return True
    letters = [re.sub(r"\d", "", end) for end in ends]
    return letters[0] != letters[1] and SequenceMatcher(None, ends[0], ends[1]).ratio() >= NEAR


def _is_named(name: str, value: Any, error: set[str]) -> bool:
    """Whether an error speaks of an argument, by its name or its value."""
    own = {word.lower() for word in _WORDS.findall(f"{name} {value}")}
    return any(word in error for word in own if len(word) > 3)


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    a, b = (_json(given)[:_COMPARED] for given in (one, other))
    return SequenceMatcher(None, a, b, autojunk=False).ratio()


def _json(given: Any) -> str:
    try:
        return canonical_json(given)
    except (TypeError, ValueError):
        return repr(given)
