"""What came of a use, and whether two uses were meant to do the same.

Refusals by the user and interruptions are no failures, nor is a search that finds nothing. A command that
ended well and yet fell back on what it was to do otherwise, or printed a traceback, has not worked. Whether
two calls of a tool that is no shell are meant to do the same is read from their arguments (`arguments`).
"""

import re
from typing import Any, Literal

from metamem.core.ids import canonical_json, content_id
from metamem.foundry.failures.arguments import TARGET, Arguments
from metamem.foundry.failures.hiding import is_hidden, seen, shows_success
from metamem.foundry.failures.missing import is_missing, runs_in_task
from metamem.foundry.failures.shell import line_of, main_command, named, only_looks
from metamem.foundry.failures.signature import is_stopped, said, telling_line
from metamem.foundry.failures.spelling import puts_right
from metamem.foundry.failures.stages import Stage, failing, finds_nothing, stages
from metamem.foundry.words import Use
from metamem.service.importing.commands import is_shell

Came = Literal["worked", "failed", "refused", "unknown"]


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
_NO_PROGRAM = re.compile(
    r"command not found|^\S*sh: .*: not found$|is not recognized as", re.IGNORECASE | re.MULTILINE
)
_ABSENT = re.compile(r"no such file|not found|does not exist|no matches", re.IGNORECASE)


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
        if (
            only_looks(use)
            and not _NO_PROGRAM.search(output)
            and (not output.strip() or _ABSENT.search(output))
        ):
            return (
                "unknown"  # that nothing is there is an answer; a program that is not there is none
            )
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
        self._arguments = Arguments(failed.tool, failed.arguments, said(failed))
        # The stages of a failed line that must work.
        self.wanted: tuple[Stage, ...] = ()
        if is_shell(failed.tool):
            self.wanted = failing(line_of(failed), self.telling)
        # Those of them whose program is not there.
        self.missing = tuple(
            one for one in self.wanted if is_missing(one.command.ran.program, said(failed))
        )

    def is_of(self, later: Use) -> bool:
        """Whether a later use was meant to do the same."""
        if same_call(self.failed, later):
            return True
        if is_shell(self.failed.tool):
            return is_shell(later.tool) and self._is_done_by(later)
        return self.failed.tool == later.tool and self._arguments.mean_same(later.arguments)

    def is_seen_in(self, later: Use) -> bool:
        """Whether the ending well of a later line says that what failed has worked in it."""
        if not is_shell(later.tool) or not self.wanted:
            return True
        known = seen(later)
        return shows_success(later) or all(
            one.aside or any(self._does(stage, one, later) for stage in known)
            for one in self.wanted
        )

    def _is_done_by(self, later: Use) -> bool:
        given = stages(line_of(later))
        if is_stopped(self.telling) and any(
            stage.program == one.program and _is_less(one, stage)
            for one in self.wanted
            for stage in given
        ):
            return False
        return bool(self.wanted) and all(
            any(self._does(stage, one, later) for stage in given) for one in self.wanted
        )

    def _does(self, stage: Stage, wanted: Stage, later: Use) -> bool:
        if stage.does(wanted) or puts_right(stage, wanted, self.telling, said(self.failed)):
            return True
        return wanted in self.missing and runs_in_task(stage, wanted, said(later))


def same_intent(failed: Use, later: Use) -> bool:
    """Whether a later use was meant to do what a failed one was."""
    return Intent(failed).is_of(later)


def intent_key(use: Use) -> str:
    """What a use was about, by which a lesson of one is known to be of use to another: the program of a
    shell's line, or the tool with its targets. No word of it can be read from it."""
    if is_shell(use.tool):
        command = main_command(line_of(use))
        return content_id("shell", named(command) if command is not None else "")
    targets = {n: v for n, v in use.arguments.items() if TARGET.search(n)}
    return content_id(use.tool.lower(), _json(targets))


def _hides(use: Use) -> bool:
    """Whether a command ended well though nobody knows whether it worked."""
    if _RAISED.search(use.result) and not only_looks(use):
        return True
    if any(stage.piped and _TIMED.match(stage.line) for stage in stages(line_of(use))):
        return True
    return is_hidden(use)


def _is_less(wanted: Stage, given: Stage) -> bool:
    """Whether what took too long was then given more to go by, or told to leave something out."""
    narrower = len(given.command.words) > len(wanted.command.words)
    return narrower or any(map(_LEAVES_OUT.match, given.options - wanted.options))


def _json(given: Any) -> str:
    try:
        return canonical_json(given)
    except (TypeError, ValueError):
        return repr(given)
