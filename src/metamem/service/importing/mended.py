"""Commands that failed for want of the right words or means, and what then worked.

A failure counts only where the output says that the command itself was wrong or something was missing:
tests that fail are the work, not a lesson. A success counts only where it means the same: the same
arguments with another program, other options or something before it, or the very same command after one
other that made it possible. Where files were edited in between, nothing is said.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from metamem.service.importing.commands import (
    LOOKS,
    Command,
    command_of,
    is_edit,
    says_what_is_wrong,
)
from metamem.service.importing.transcript import Call
from metamem.service.writing.clean import one_line
from metamem.service.writing.trust import strength

LINE = 160  # characters of an error's line
NEAR = 4  # commands after a failure among which its mending is looked for
_REFUSED = re.compile(
    r"user (?:doesn't|does not|didn't) want|rejected|interrupted|cancell?ed|denied by|timed? ?out",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Mended:
    """A command that failed, why, and the one that worked."""

    key: str
    text: str
    source: str  # whose words it holds
    prompt: str  # the line of the user that it served
    at: int | None


def mended(calls: Sequence[Call]) -> list[Mended]:
    """What a session's calls teach, each lesson once."""
    own = [call for call in calls if not call.agent]
    found: dict[str, Mended] = {}
    for place, call in enumerate(own):
        failed = command_of(call.tool, call.arguments)
        if failed is None or not call.failed or failed.program in LOOKS:
            continue
        why = _reason(call)
        if not why:
            continue
        lesson = _lesson(failed, why, call, own[place + 1 :])
        if lesson is not None:
            found.setdefault(lesson.text, lesson)
    return list(found.values())


def _lesson(failed: Command, why: str, call: Call, later: Sequence[Call]) -> Mended | None:
    between: list[Command] = []
    for each in later:
        if each.prompt != call.prompt or (is_edit(each.tool) and not each.failed):
            return None
        command = command_of(each.tool, each.arguments)
        if command is None:
            continue
        if each.failed is False:
            if command.line == failed.line:
                if len(between) != 1:
                    return None  # by itself, or nobody knows by which
                return _told(failed, why, f"After `{between[0].line}` it worked.", call)
            if command.means(failed):
                return _told(failed, why, f"`{command.line}` worked.", call)
            if command.program not in LOOKS:
                between.append(command)
        if len(between) > NEAR:
            return None
    return None


def _told(failed: Command, why: str, then: str, call: Call) -> Mended | None:
    """The lesson with the error's own words where those command nobody, without them else."""
    for reason, source in ((f" with “{why}”", "tool"), ("", "agent")):
        text = f"`{failed.line}` failed{reason}. {then}"
        if not strength(text):
            return Mended(f"mended {call.id}", text, source, call.prompt, call.at)
    return None


def _reason(call: Call) -> str:
    """The line of the output that says what was wrong; empty where none does."""
    output = call.error or call.result or ""
    if _REFUSED.search(output[:300]):
        return ""
    for line in output.splitlines()[-200:]:
        if says_what_is_wrong(line):
            return one_line(line.strip(), LINE)
    return ""
