"""Programs that are not there, and tasks of a project that are seen to run them in another way.

`make test` says nothing by its name of what it runs. It is known where the output shows it: the commands that
make, npm, tox and their like print before they run them, or what only one program prints at its end.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from metamem.foundry.failures.hiding import seen
from metamem.foundry.failures.stages import Stage, several
from metamem.foundry.words import Use
from metamem.service.importing.commands import bare

_MISSING = (
    r"(?:^|[\s/'\"`]){0}['\"`]?: (?:command )?not found",
    r"(?:^|[\s/]){0}: no such file or directory",
    r"command not found: (?:\S*/)?{0}\s*$",
    r"no module named ['\"]?{0}['\"]?(?![\w.])",
    r"failed to spawn: [`'\"]{0}[`'\"]",
    r"command [`'\"]{0}[`'\"] (?:is )?not found",
    r"the command {0} could not be found",
    r"[`'\"]?{0}[`'\"]? is not recognized as",
    r"can(?:no|')t find '{0}' on",
)
_LINES, _WIDEST = 40, 300  # of an output that are looked at for commands
_TASK = re.compile(r"g?make|just|task|npm|pnpm|yarn|bun|tox|nox|poe|hatch|rake")
_DRY = several(
    "-n --just-print --dry-run --recon -q --question -t --touch --list -l --dry --summary"
)
_BEFORE = re.compile(
    r"(?:[>$+] |nox > |\S+: commands\[\d+\]> |task: \[[^\]]+\] |Poe => |cmd \[\d+\] \| )?(?P<line>\S.*)"
)
_IGNORED = re.compile(r"\bError \d+ \(ignored\)")
_ALL = several(". ./... src test tests")
_SAYS = several("echo printf")
_SUMMARIES = {  # what nobody else prints when it ends well
    "pytest": re.compile(r"^=* ?\d+ passed\b.* in [\d.]+s\b", re.MULTILINE),
    "jest": re.compile(r"^Test Suites: +\d+ passed\b", re.MULTILINE),
    "vitest": re.compile(r"^\s*Test Files +\d+ passed\b", re.MULTILINE),
    "mypy": re.compile(r"^Success: no issues found in \d+ source files?$", re.MULTILINE),
}


def is_missing(program: str, output: str) -> bool:
    """Whether an output says that a program, or a module that is run, is not there."""
    name = re.escape(bare(program))
    return any(
        re.search(form.format(name), output, re.IGNORECASE | re.MULTILINE) for form in _MISSING
    )


def runs_in_task(task: Stage, wanted: Stage, output: str) -> bool:
    """Whether the output of a project's task shows that it ran, on all that there is or on the same target,
    what a program that is not there was to do."""
    program = bare(task.command.ran.program)
    if not _TASK.fullmatch(program) or not _DRY.isdisjoint(task.options):
        return False
    one = _of_all(replace(wanted, command=wanted.command.ran))
    if is_missing(one.program, output) or _IGNORED.search(output):
        return False
    summary = _SUMMARIES.get(one.program)
    if summary and not one.command.words and summary.search(output):
        return True
    return any(
        bare(stage.command.ran.program) == one.program and _of_all(stage).does(one)
        for stage in _printed(output)
    )


def _printed(output: str) -> Iterator[Stage]:
    """The programs of the commands that a task prints before it runs them, without those whose failing
    would not be seen. What one of them was to say is no command."""
    said: set[str] = set()
    for line in output.splitlines()[:_LINES]:
        found = _BEFORE.match(line.strip())
        if not found or len(line) > _WIDEST or found["line"] in said:
            continue
        if found["line"].startswith("#"):  # a remark in a recipe, which is printed, too
            continue
        given = seen(Use("", "bash", {"command": found["line"]}, failed=False, exit_code=0))
        said |= {" ".join(one.line.split()[1:]) for one in given if one.program in _SAYS}
        yield from given


def _of_all(stage: Stage) -> Stage:
    """Without the words that say that all is meant."""
    command = stage.command
    rest = tuple(word for word in command.words if word.rstrip("/") not in _ALL)
    return replace(stage, command=replace(command, words=rest))
