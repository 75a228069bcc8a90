"""Running a deployed tool: in the workspace jail, on the git tree of the folder it is called for.

That tree is all it can write, and it must be one of the tool's own project. There is no network, and nothing of
the user's environment. Git's settings and hooks in the tree stay as they are: programs that run outside would
obey them. A program that is not the one that was approved is not run, and disabled at once.
"""

import json
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metamem.core.aside import aside
from metamem.core.errors import Denied, MetamemError, UnknownName, UsageError
from metamem.core.git import GitFailed, ask_git
from metamem.core.secrets import redact
from metamem.core.tokens import count_tokens
from metamem.foundry.tools import deploying, deployments, runs
from metamem.foundry.tools.deployments import Deployed
from metamem.foundry.tools.site import Site
from metamem.foundry.tools.skills import top_of
from metamem.foundry.tools.watch import look
from metamem.sandbox.tree import room
from metamem.sandbox.workspace import CommandResult, WorkspaceLimits, run_command
from metamem.service.access.projects import PROJECT

SECONDS = 300.0
MORE_MB = 1024  # that a tool may add to its tree
GIT_SECONDS = 10.0
OUTPUT = 20_000  # characters that are told; the end is what matters
_PLACE = "/run/tool"  # where the jail has the program
_HELP = {"--help", "-h"}  # asking what it takes is no use of it
_PINNED, _FIXED = (".git",), (".git/config", ".git/hooks")
_ASKED = r"^(user\.(name|email)|core\.(autocrlf|eol|filemode|symlinks|quotepath))$"
_THERE = 'cd -- "$1" && shift && exec "$@"'
_FORBIDDEN = ".git/commondir"  # would have git read its settings elsewhere


class Sabotaged(MetamemError):
    """A tool that is not, or does not, what was approved. It was not run, or undone, and is disabled."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a use, told plainly."""

    run: str
    name: str
    exit_code: int
    output: str
    ended_by: str
    milliseconds: int
    disabled: str = ""  # why it is out of use from now on

    @property
    def worked(self) -> bool:
        return self.exit_code == 0

    @property
    def line(self) -> str:
        """One line: how it ended, and the run's id, by which a session's trace finds it."""
        how = "done" if self.worked else f"failed with exit code {self.exit_code}"
        limit = f", ended by its limit of {self.ended_by}" if self.ended_by else ""
        gone = f"; it is disabled: {self.disabled}" if self.disabled else ""
        return (
            f"{self.name}: {how} in {self.milliseconds / 1000:.1f} s{limit} (run {self.run}){gone}"
        )

    def text(self) -> str:
        return f"{self.line}\n{self.output}".rstrip("\n")


async def run(
    site: Site,
    name: str,
    folder: Path,
    values: Mapping[str, Any] | None = None,
    words: Sequence[str] = (),
    *,
    at: int,
) -> Ran:
    """Use a tool in the tree of a folder, with values or with words as its own command line has them."""
    found = await aside(find, site, name)
    name = found.name
    top = await aside(tree_for, site, folder)
    program = await aside(deploying.approved_program, site, found)
    if program is None:
        await aside(_disabled, site, found, deploying.CHANGED, at)
        raise Sabotaged(f"{name} was not run, and is disabled: {deploying.CHANGED}")
    began = time.monotonic()
    before = os.path.lexists(top / _FORBIDDEN)
    within = found.kept.within or str(folder.resolve().relative_to(top))
    done = await _in_jail(found.name, program, top, within, values, words)
    took = round(1000 * (time.monotonic() - began))
    if not before and os.path.lexists(top / _FORBIDDEN):
        (top / _FORBIDDEN).unlink()
        why = "it meddled with git's own files"
        await aside(_disabled, site, found, why, at)
        raise Sabotaged(f"{name} is disabled: {why}; they are as before")
    identifier = runs.new_run()
    output = _told(done)
    if values is None and _HELP & set(words):
        return Ran(identifier, name, done.exit_code, output, done.ended_by, took)
    given = [dict(values)] if values is not None else list(words)
    gone = await aside(
        _entered, site, found, identifier, done, took, [str(top), *given], output, at
    )
    return Ran(identifier, name, done.exit_code, output, done.ended_by, took, gone)


def find(site: Site, name: str) -> Deployed:
    """A tool that is in use, by its name in any writing."""
    with site.database.reading() as execute:
        in_use = deployments.deployed(execute, site.number)
    for each in in_use:
        if name in runs.names_of(each.name):
            return each
    known = ", ".join(each.name for each in in_use)
    raise UnknownName(
        f"no tool called {name!r} is in use in {site.scope}",
        hint=f"there are: {known}" if known else "metamem promotions pending lists those that wait",
    )


def tree_for(site: Site, folder: Path) -> Path:
    """The git tree that a tool may work on when it is called for a folder."""
    if site.scope.kind == PROJECT:
        top = top_of(folder, site.scope)
        if top is None:
            raise Denied(
                f"{folder} is not in a git tree of {site.scope}",
                hint="a tool works on the files of its own project alone",
            )
    else:
        start = folder.resolve()
        top = next((each for each in (start, *start.parents) if (each / ".git").exists()), None)
        if top is None:
            raise Denied(f"{folder} is in no git tree", hint="a tool works on files that git keeps")
    inside = top / ".git"
    if not inside.is_dir() or inside.is_symlink() or (inside / "hooks").is_symlink():
        raise UsageError(
            f"the repository of {top} lies outside of it",
            hint="call the tool in the main work tree",
        )
    return top


async def _in_jail(
    name: str,
    program: str,
    top: Path,
    within: str,
    values: Mapping[str, Any] | None,
    words: Sequence[str],
) -> CommandResult:
    (top / ".git" / "hooks").mkdir(exist_ok=True)
    limits = WorkspaceLimits(tree_mb=(await aside(room, top) >> 20) + MORE_MB)
    stdin = b"" if values is None else json.dumps(dict(values)).encode()
    asked = ["--json", "-"] if values is not None else list(words)
    with tempfile.TemporaryDirectory(prefix="metamem-") as own:
        # The very text that was looked at, whatever happens to the file meanwhile.
        copy = Path(own) / "program.py"
        copy.write_text(program, encoding="utf-8", errors="surrogateescape")
        return await run_command(
            ["sh", "-c", _THERE, "sh", within, "python", "-I", f"{_PLACE}/{name}", *asked],
            top,
            SECONDS,
            limits,
            shown={f"{_PLACE}/{name}": copy},
            environment=await aside(_settings, top),
            stdin=stdin,
            pinned=_PINNED,
            fixed=_FIXED,
        )


def _settings(top: Path) -> dict[str, str]:
    """Who commits and how git writes files, as outside; nothing else of the user's settings comes along.
    What a step says itself counts for more."""
    try:
        said = ask_git(
            top, ("config", "-z", "--get-regexp", _ASKED), time.monotonic() + GIT_SECONDS
        )
    except GitFailed:
        return {}  # none of them is set
    pairs = [entry.partition("\n") for entry in os.fsdecode(said).split("\0") if entry]
    told = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for at, (name, _, value) in enumerate(pairs):
        told |= {f"GIT_CONFIG_KEY_{at}": name, f"GIT_CONFIG_VALUE_{at}": value}
    return told


def _told(done: CommandResult) -> str:
    """What it said, without secrets: it may have read files that hold some."""
    said = redact("\n".join(part.rstrip("\n") for part in (done.stdout, done.stderr) if part)).text
    return said if len(said) <= OUTPUT else f"(the beginning is left out)\n{said[-OUTPUT:]}"


def _entered(
    site: Site,
    found: Deployed,
    identifier: str,
    done: CommandResult,
    took: int,
    given: Sequence[Any],
    output: str,
    at: int,
) -> str:
    """Keep a run, and look whether the tool can stay in use; why it cannot."""
    with site.database.writing() as execute:
        runs.enter(
            execute, site.number, identifier, found, at=at, exit_code=done.exit_code,
            milliseconds=took, tokens=count_tokens(output), given=given,
            why=f"ended by its limit of {done.ended_by}" if done.ended_by else "",
        )  # fmt: skip
    return look(site, found, at=at)


def _disabled(site: Site, found: Deployed, why: str, at: int) -> None:
    deploying.disable(site, found.kept.slot, found.kept.id, why=why, at=at)
