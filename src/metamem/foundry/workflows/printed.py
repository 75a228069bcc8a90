"""What a use printed, as a program that does the same prints it: hosts number the lines of files that they show."""

import re

from metamem.foundry.tools.operations import READS
from metamem.foundry.words import Use

_MOST = 20_000
_PLAIN = re.compile(r" *(\d+)[→\t](.*)")  # Claude Code: `     3→text`, or with a tab
_TAGGED = re.compile(r" *(\d+)[|:] ?(.*)")  # opencode: `00003| text` or `3: text`, between tags
_TAG = re.compile(r"^<(?:file|content)>$", re.MULTILINE)


def printed(use: Use) -> str:
    """What it printed; of a file that was shown only the content, without what the host put around it."""
    text = use.result[:_MOST]
    if use.tool not in READS:
        return text
    form = _TAGGED if _TAG.search(text) else _PLAIN
    lines = [match for line in text.split("\n") if (match := form.fullmatch(line))]
    numbers = [int(match[1]) for match in lines]
    if not numbers or numbers != sorted(set(numbers)):  # none, or numbers of the file's own
        return text
    return "\n".join(match[2] for match in lines)
