"""What two failures have in common that are the same failure.

A signature keeps the tool, the program with what it was to do, the class of the error, the status and exit
code, and the line that says what was wrong with the names in it. Everything that differs from one run to
the next is masked before.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from metamem.core.documents import read_json
from metamem.core.ids import content_id
from metamem.foundry.failures.frames import unframed, without_run
from metamem.foundry.failures.masking import masked
from metamem.foundry.failures.shell import line_of, main_command, named
from metamem.foundry.failures.status import named_status, told_status
from metamem.foundry.words import Use
from metamem.service.importing.commands import Command, is_shell, says_what_is_wrong

LONGEST = 160  # characters of the telling line
_LINES = 300  # of an output that are looked at, from its end
_WIDEST = 600  # characters of a line; longer ones are data

_EXCEPTION = re.compile(
    r"^\s*(?:E\s+|Caused by: |Uncaught |Unhandled |\w+: )?(?:[\w$]+[.:])*"
    r"(?P<class>[A-Z][\w$]*(?:Error|Exception|Exit|Interrupt|Warning|Failure|Fault|Timeout|NotFound|Refused|Denied))"
    r"(?: \[(?P<code>[A-Z_\d]+)\])?(?=:|\s*$)"
)
_CODED = re.compile(
    r"\b(?:error|warning)\s*(?:\[(E\d+)\]|([A-Z]{1,4}\d{3,5})\b)|\b(E[A-Z]{4,}|ERR_[A-Z_]+)\b"
)
_PLAIN = re.compile(
    r"\b(?:no required module|error|fatal|failed|failure|cannot|could not|unable|invalid|denied|refused|not found)\b",
    re.I,
)
_EXIT = re.compile(
    r"\b(?:exited with (?:code|status)|exit(?:ed)? (?:code|status)|exit_code)\W{1,3}(\d{1,3})\b",
    re.I,
)
_CODES = ("status", "code", "statusCode", "status_code")  # in an answer in JSON
_REMARK = re.compile(r"(?:^|[\s:(\[])(?:note|warning|info|debug|hint)\]?:", re.I)
_HOLES = re.compile(r":(?: :)+")  # that a masked number left: `bash: line 1: pytest: …`
_STOPPED = re.compile(r"\btimed out\b|^(?:was |been )?(?:killed|terminated)\b", re.I)
_KINDS = (
    ("command not found", re.compile(r"command not found|: not found$|is not recognized as", re.I)),
    ("no such file", re.compile(r"no such file or directory|does not exist|enoent", re.I)),
    ("permission denied", re.compile(r"permission denied|eacces|operation not permitted", re.I)),
    ("connection refused", re.compile(r"connection refused|econnrefused|could not connect", re.I)),
    ("timeout", re.compile(r"\btimed? ?out\b|etimedout", re.I)),
    ("unknown option", re.compile(r"(?:unrecogni[sz]ed|unknown|invalid|no such) (?:arguments?|options?|flags?)", re.I)),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Signature:
    """A failure, whoever met it and wherever."""

    tool: str
    program: str = ""  # of a shell's command, with what it was to do
    error: str = ""  # its class, where it has one
    status: int | None = None  # of HTTP
    exit_code: int | None = None
    detail: str = ""  # the line that says what was wrong, masked

    @property
    def id(self) -> str:
        return content_id(
            self.tool, self.program, self.error, self.status, self.exit_code, self.detail
        )

    @property
    def kin(self) -> str:
        """What failures share that differ in nothing but names."""
        return content_id(self.tool, self.program, self.error, self.status, self.exit_code)

    @property
    def text(self) -> str:
        """In a line, for people."""
        marks = [f"HTTP {self.status}"] if self.status is not None else []
        if self.exit_code is not None:
            marks.append(f"exit {self.exit_code}")
        told = self.detail if self.error in self.detail else f"{self.error}: {self.detail}"
        told = _HOLES.sub(":", told)
        where = self.program or self.tool
        return f"{where}: {told or 'failed'}" + (f" ({', '.join(marks)})" if marks else "")


def signature(use: Use) -> Signature:
    """Of a use that failed."""
    output = said(use)
    lines = _lines(output)
    shell = is_shell(use.tool)
    telling, error = _telling(lines, shell)
    line = line_of(use)
    command = main_command(line, telling) if line else None
    exit_code = use.exit_code
    if exit_code is None and (found := _EXIT.search(_raw(use))):
        exit_code = int(found[1])
    return Signature(
        tool="shell" if shell else use.tool.lower(),
        program=named(command) if command is not None else "",
        error=error,
        status=told_status(telling) or named_status("\n".join(lines)),
        exit_code=exit_code,
        detail=masked(_about(telling, command))[:LONGEST].rstrip(),
    )


def telling_line(use: Use) -> str:
    """The line of a failure that says what was wrong, as it stands there."""
    return _telling(_lines(said(use)), is_shell(use.tool))[0]


def tells_failure(output: str) -> bool:
    """Whether a line of an output says that something was wrong."""
    return any(
        _EXCEPTION.match(line)
        or says_what_is_wrong(line)
        or _CODED.search(line)
        or _PLAIN.search(line)
        for line in _lines(output)
    )


def is_stopped(telling: str) -> bool:
    """Whether somebody stopped it because it took too long."""
    return _STOPPED.search(telling) is not None


def said(use: Use) -> str:
    """What came back of a failure, in plain text."""
    text = without_run(_raw(use))
    stripped = text.strip()
    if stripped.startswith("{"):
        try:
            given = read_json(stripped)
        except ValueError:
            return text
        return _inside(given) or text
    return unframed(text) if is_shell(use.tool) else text


def _raw(use: Use) -> str:
    return use.error if use.error.strip() else use.result


def _inside(given: object) -> str:
    """The message of an answer in JSON, and its status."""
    if isinstance(given, str):
        return given
    if not isinstance(given, dict):
        return ""
    for name in ("error", "message", "detail", "stderr", "output"):
        if given.get(name) and (found := _inside(given[name])):
            code = next((given[name] for name in _CODES if name in given), "")
            return f"{found} (status: {code})" if isinstance(code, int) else found
    return ""


def _about(telling: str, command: Command | None) -> str:
    """What an error is about: what was stopped says nothing of it by itself."""
    if command is not None and is_stopped(telling):
        return f"{telling}: {command.line}"
    return telling


def _lines(output: str) -> list[str]:
    lines = [line[:_WIDEST] for line in output.splitlines() if line.strip()]
    # Who stopped it says so before all that it had printed.
    return lines if len(lines) <= _LINES else [lines[0], *lines[1 - _LINES :]]


def _telling(lines: Sequence[str], shell: bool) -> tuple[str, str]:
    """The line that says what was wrong, and the class of that."""
    if lines and is_stopped(lines[0]):
        return lines[0].strip(), _class(lines[0])
    # Remarks and warnings only where nothing else tells.
    grave = [line for line in lines if not _REMARK.search(line)]
    if len(grave) < len(lines) and (found := _telling_of(grave)):
        return found
    if found := _telling_of(lines):
        return found
    if not lines:
        return "", ""
    last = lines[-1] if shell else lines[0]
    return last.strip(), _class(last)


def _telling_of(lines: Sequence[str]) -> tuple[str, str] | None:
    raised = [(line, found) for line in lines if (found := _EXCEPTION.match(line))]
    if raised:
        line, found = raised[-1]
        return line[found.start("class") :].strip(), found["code"] or found["class"]
    for holds in _TELLING:
        for at, line in enumerate(lines):
            if holds(line):
                line = _with_next(lines, at)
                return line, _class(line)
    return None


# What says most of what was wrong, first; the last is how a tool of ours tells at which step it ended.
_TELLING: tuple[Callable[[str], object], ...] = (
    says_what_is_wrong, _CODED.search, named_status, _PLAIN.search, told_status, re.compile("stopped: ").match,
)  # fmt: skip


def _with_next(lines: Sequence[str], at: int) -> str:
    """A line; one that announces another with that."""
    line = lines[at].strip()
    return f"{line} {lines[at + 1].strip()}" if line.endswith(":") and at + 1 < len(lines) else line


def _class(line: str) -> str:
    if coded := _CODED.search(line):
        return str(next(filter(None, coded.groups())))
    return next((name for name, form in _KINDS if form.search(line)), "")


KINDS = frozenset(name for name, _ in _KINDS)  # classes that no output can choose the words of
