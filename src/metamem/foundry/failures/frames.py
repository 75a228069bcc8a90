"""What a command printed, without what its host wrote around it: the same failure is the same in every host.

The exit code stands there, too; it is known by itself.
"""

import re

_BEFORE = re.compile(
    r"\A(?:(?:Error: )?Exit code:? -?\d{1,9}(?:\n|\Z)"  # Claude Code
    r"|(?:Chunk ID: [^\n]*\n)?(?:Wall time: [^\n]*\n)?Process exited with code -?\d{1,9}(?:\n|\Z)"  # Codex
    r"(?:Original token count: \d+\n)?(?:Output:\n)?"
    r"|(?:Command: [^\n]*\n)?(?:Directory: [^\n]*\n)?Output: )"  # Gemini CLI
)
_AFTER = re.compile(
    r"(?:\n(?:Exit Code: -?\d{1,9}|Signal: [^\n]*|Error: \(none\)|Background PIDs: [^\n]*"
    r"|Process Group PGID: [^\n]*))+\s*\Z"
)
# A tool of ours tells how it ended and in which run: no two failures have that in common.
_RUN = re.compile(r"^[^\n]*\(run w[0-9a-f]{20,40}\)[^\n]*(?:\n|\Z)", re.MULTILINE)


def without_run(text: str) -> str:
    """A result without the line that names the run of a tool."""
    return _RUN.sub("", text)


def unframed(text: str) -> str:
    """A result of a shell as its command wrote it."""
    inside = _BEFORE.sub("", text, count=1)
    return _AFTER.sub("", inside)
