"""One case in one private folder: its tree is made, copied, and worked on in the jail, as recorded and by a tool."""

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from metamem.core.errors import DataError
from metamem.foundry.failures.shell import main_command, named
from metamem.foundry.tools.effects import (
    Effects,
    differ,
    files_differ,
    read_files,
    unlike,
    without_content,
)
from metamem.foundry.tools.origin import NotReplayable, Origin
from metamem.foundry.tools.redoing import Action, Redoing
from metamem.foundry.tools.tool import Tool
from metamem.foundry.words import Snapshot
from metamem.sandbox.workspace import (
    WORKSPACE,
    CommandResult,
    WorkspaceLimits,
    can_be_seen_as,
    run_command,
)
from metamem.service.writing.clean import one_line

_STAGE, _PROGRAM, _OBJECTS = "/run/stage.py", "/run/tool.py", "/run/objects"
_PYTHON = ("python", "-E", "-s", "-S", "-B")
_THERE = 'cd -- "$1" && shift && exec "$@"'
_ANSWER = 8 << 20  # bytes that a stage may say
_SOMEWHEN = 1_577_836_800_000  # for snapshots that do not say when they were made
_TOLD = 160
_NO_PROGRAM = 127  # the exit code of a shell that does not find one
_TOO_MUCH = {"cpu": "computing", "wall": "time", "processes": "at once", "tree": "was written"}


@dataclass(frozen=True, slots=True)
class Budget:
    """What a replay may take."""

    seconds: float = 120.0  # for each of its parts: making ready, as recorded, by the tool
    cpu: int = 60  # seconds, for each process
    memory_mb: int = 2048
    tree_mb: int = 512
    files: int = 50_000
    at_once: int = 2


class EndsOtherwise(NotReplayable):
    """A recorded use does not end as it did."""


class Trial:
    """One case in one private folder; git knows whoever commits there by that identity, if any."""

    def __init__(
        self,
        budget: Budget,
        place: Path,
        snapshot: Snapshot,
        origin: Origin,
        again: Redoing,
        identity: Mapping[str, str],
    ) -> None:
        self._budget, self._place = budget, place
        self._snapshot, self._origin, self._again = snapshot, origin, again
        self._identity = identity
        self._at = snapshot.at or _SOMEWHEN
        when = f"{self._at // 1000} +0000"
        self._environment = {
            "GIT_AUTHOR_DATE": when,
            "GIT_COMMITTER_DATE": when,
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
        }
        self._seen_as = origin.seen if can_be_seen_as(origin.seen) else WORKSPACE
        self._limits = WorkspaceLimits(
            cpu=budget.cpu,
            memory_mb=budget.memory_mb,
            file_mb=budget.tree_mb,
            tree_mb=2 * budget.tree_mb,
            output_bytes=_ANSWER,
        )

    async def all(self, tool: Tool, values: Mapping[str, Any] | str) -> str:
        """Why the tool's effects are not those that were recorded; empty where they are."""
        start = self._place / "start"
        start.mkdir()
        asked = {"begin": self._begin(), "uses": self._again.before, "folder": self._origin.within}
        said = await self._stage(start, asked)
        self._check(said, "before it", self._again.before)
        where = str(said["folder"])
        # The tool's turn is between the two recorded ones: what hangs on the time differs in them, too.
        first = await self._recorded(await self._copy(start, "first"), where)
        found = values if isinstance(values, str) else ""
        trial: Path | None = None
        if not isinstance(values, str):
            trial = await self._copy(start, "tool")
            found = await self._by_tool(tool, values, trial)
        loose = await self._not_alike(first, await self._recorded(start, where))
        if found or trial is None:
            return found
        return await self._compared(without_content(first, loose), trial, loose)

    async def _recorded(self, tree: Path, where: str) -> Effects:
        """The case as it was recorded, from the folder in which its shell was."""
        asked = {"uses": self._again.own, "folder": where, "look": self._look()}
        said = await self._stage(tree, asked)
        self._check(said, "of it", self._again.own)
        try:
            found = await asyncio.to_thread(self._files, tree)
        except DataError as error:
            raise NotReplayable(f"what it leaves behind cannot be read: {error.message}") from error
        return replace(found, git=said["look"])

    async def _not_alike(self, one: Effects, other: Effects) -> set[str]:
        """Files that come out differently each time though git does not count them. Any other
        difference ends it: nobody could tell what a tool should do."""
        loose: set[str] = set()
        if paths := unlike(one, other):
            said = await self._stage(self._place / "first", {"ignored": paths})
            loose = set(said.get("ignored", ()))
        found = differ(without_content(one, loose), without_content(other, loose))
        if found:
            raise NotReplayable(f"it does not come out the same way twice: {found}")
        return loose

    async def _by_tool(self, tool: Tool, values: Mapping[str, Any], tree: Path) -> str:
        """Let the tool do it; why it did not, where it stopped."""
        program = self._place / "tool.py"
        program.write_text(tool.program)
        argv = ["sh", "-c", _THERE, "sh", self._origin.within, *_PYTHON, _PROGRAM, "--json", "-"]
        done = await self._jailed(
            argv, tree, json.dumps(dict(values)).encode(), {_PROGRAM: program}
        )
        if done.ended_by:
            return f"the tool was ended: too much {_TOO_MUCH[done.ended_by]}"
        if done.exit_code:
            told = one_line(done.stderr[-2000:], _TOLD)
            return f"the tool stopped with exit code {done.exit_code}: {told}"
        return ""

    async def _compared(self, expected: Effects, tree: Path, loose: set[str]) -> str:
        """Where the tool's tree is not as recorded. Git is asked only when nothing that it is set to
        was changed by the tool alone: else it might say whatever the tool likes."""
        try:
            found = await self._left(tree, loose)
            others = bool(self._again.others)
            if why := files_differ(expected, found, settings_alone=others):
                return why
            asked = {
                "uses": self._again.others,
                "folder": self._origin.within,
                "look": self._look(),
            }
            said = await self._stage(tree, asked)
            if said.get("redone"):
                return "what was done in between does not work after the tool"
            if "look" not in said:
                return "git cannot read what the tool leaves behind"
            found = await self._left(tree, loose) if others else found
            return differ(expected, replace(found, git=said["look"]))
        except DataError as error:
            return f"what the tool leaves behind cannot be read: {error.message}"

    async def _left(self, tree: Path, loose: set[str]) -> Effects:
        return without_content(await asyncio.to_thread(self._files, tree), loose)

    # --- the jail -------------------------------------------------------------------------------

    async def _stage(self, tree: Path, asked: Mapping[str, Any]) -> dict[str, Any]:
        with as_file(files("metamem.foundry.tools").joinpath("stage.py")) as program:
            done = await self._jailed(
                [*_PYTHON, _STAGE], tree, json.dumps(asked).encode(), {_STAGE: program}
            )
        try:
            said = json.loads(done.stdout)
        except ValueError:
            said = {}
        return said if isinstance(said, dict) else {}

    async def _jailed(
        self, argv: list[str], tree: Path, stdin: bytes, shown: Mapping[str, Path]
    ) -> CommandResult:
        return await run_command(
            argv,
            tree,
            self._budget.seconds,
            self._limits,
            shown={_OBJECTS: self._origin.objects[0], **shown},
            readable=self._origin.objects[1:],
            environment=self._environment,
            stdin=stdin,
            seen_as=self._seen_as,
        )

    def _check(self, said: Mapping[str, Any], where: str, uses: Sequence[Action]) -> None:
        """A stage that went as it should; else the case cannot be replayed."""
        if "failed" in said:
            told = one_line(str(said["failed"]), _TOLD)
            raise NotReplayable(f"the tree cannot be made again, or read: {told}")
        if "redone" not in said:
            raise NotReplayable(f"the uses {where} took too long, or too much", lasting=False)
        if said["redone"]:
            at, code = int(said["redone"]["at"]), int(said["redone"]["code"])
            raise EndsOtherwise(_otherwise(f"a use {where} (number {at + 1})", uses[at], code))

    # --- what is asked --------------------------------------------------------------------------

    def _begin(self) -> dict[str, Any]:
        # Copies have other inodes and other times of change: git must not take that for a change. Nothing
        # of it has to outlast the machine: git need not wait for the disk.
        core = {
            **self._origin.core,
            "trustctime": "false",
            "checkStat": "minimal",
            "fsync": "none",
        }
        return {
            "format": self._origin.format,
            "objects": [_OBJECTS, *map(str, self._origin.objects[1:])],
            "shallow": self._origin.shallow,
            "core": core,
            "user": dict(self._identity),
            "refs": dict(self._origin.refs),
            "head": self._origin.head,
            "commit": self._origin.commit,
            "diff": self._snapshot.diff,
            "at": self._at,
            "most_bytes": self._budget.tree_mb << 20,
            "most_files": self._budget.files,
        }

    def _look(self) -> dict[str, Any]:
        base = sorted({self._origin.commit, *self._origin.refs.values()})
        return {"commit": self._origin.commit, "base": base}

    def _files(self, tree: Path) -> Effects:
        return read_files(tree, 2 * self._budget.tree_mb << 20, 2 * self._budget.files)

    async def _copy(self, tree: Path, name: str) -> Path:
        """An equal tree beside it, times included."""
        copy = self._place / name
        process = await asyncio.create_subprocess_exec(
            "cp", "-a", "--reflink=auto", str(tree), str(copy),
            env={"PATH": os.defpath}, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            code = await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if code:
            raise NotReplayable("the tree before it cannot be copied", lasting=False)
        return copy


def _otherwise(which: str, use: Action, code: int) -> str:
    """How a use ended that had ended otherwise. Programs that the jail does not have are the most common
    reason: then it is told which line needs one."""
    if code != _NO_PROGRAM:
        return f"{which} now ends with exit code {code}"
    lines = [op["text"] for op in use["does"] if op["kind"] == "shell"]
    command = main_command(lines[-1]) if lines else None
    needs = one_line(named(command), _TOLD) if command is not None else ""
    return f"{which} needs a program that the jail does not have{f': {needs}' if needs else ''}"
