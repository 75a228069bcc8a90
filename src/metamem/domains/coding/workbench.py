"""Where code runs: an agent's commands, and the tests that decide a score. Both in the jail.

The agent's commands run in its own tree, which they may change. Tests for a score run in a fresh
tree and through the guard (test-kit/pytest/_guard.py), whose answers the tested code cannot forge.
"""

import compileall
import json
import secrets
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from metamem.core.errors import DataError, EngineFault
from metamem.core.ids import content_id
from metamem.domains.coding.outcomes import Outcomes
from metamem.domains.coding.tree import Files, read_tree, tree_id, write_tree
from metamem.sandbox.workspace import CommandResult, WorkspaceLimits, run_blocking

KIT = Path(__file__).with_name("test-kit")
COMMAND_SECONDS = 60.0
TEST_SECONDS = 120.0
_KIT_INSIDE = "/testkit"
_ENVIRONMENT = {
    "PYTHONPATH": _KIT_INSIDE,
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONSAFEPATH": "1",  # a file of the project must not stand in for the standard library
}
_SHORTCUT = 'pytest() { python -m pytest "$@"; }\n'
_GUARD = f"{_KIT_INSIDE}/pytest/_guard.py"
_START_GUARD = (
    f"import builtins; path = {_GUARD!r}; exec(compile(open(path).read(), path, 'exec'),"
    " {'__name__': 'guard', '__builtins__': dict(vars(builtins))})"
)


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What one run may take. CPU time decides; the clock only ends what waits for ever."""

    command_seconds: float = COMMAND_SECONDS
    test_seconds: float = TEST_SECONDS
    command_cpu: int = 15
    test_cpu: int = 5  # for one test file
    memory_mb: int = 1024
    output_chars: int = 10_000


@dataclass(frozen=True, slots=True)
class Ran:
    """What an agent's command said, and what became of the tree."""

    text: str
    exit_code: int
    files: Files


@cache
def _kit_version() -> str:
    # The jail sees the kit read-only: without bytecode it would compile it in every run.
    compileall.compile_dir(KIT, quiet=2)
    sources = {p.name: p.read_text() for p in sorted((KIT / "pytest").glob("*.py"))}
    return content_id(sources, sys.version)


class Workbench:
    """Runs things in the jail and remembers how they went."""

    def __init__(self, outcomes: Outcomes, limits: RunLimits | None = None) -> None:
        self.limits = limits or RunLimits()
        self._outcomes = outcomes

    def command(self, files: Files, command: str) -> Ran:
        """A shell command of the agent. Whatever it does is answered, not raised."""
        key = self._key("command", files, command)
        kept = self._outcomes.get(key)
        if kept is None:
            kept, lasting = self._command(files, command)
            if lasting:
                self._outcomes.put(key, kept)
        after = dict(files)
        for path, text in kept["changed"].items():
            if text is None:
                del after[path]
            else:
                after[path] = text
        return Ran(kept["text"], kept["exit_code"], after)

    def passed(self, files: Files, tests: Sequence[str]) -> frozenset[str]:
        """Which of the tests (`path::name`) pass in a tree, by the guard's word."""
        wanted = sorted(set(tests))
        key = self._key("score", files, *wanted)
        kept = self._outcomes.get(key)
        if kept is None:
            kept, lasting = self._passed(files, wanted)
            if lasting:
                self._outcomes.put(key, kept)
        return frozenset(kept)

    def _key(self, purpose: str, files: Files, *rest: str) -> str:
        limits = self.limits
        return content_id(
            purpose,
            _kit_version(),
            tree_id(files),
            rest,
            [limits.command_cpu, limits.test_cpu, limits.memory_mb, limits.output_chars],
        )

    def _command(self, files: Files, command: str) -> tuple[dict[str, Any], bool]:
        limits = WorkspaceLimits(cpu=self.limits.command_cpu, memory_mb=self.limits.memory_mb)
        with tempfile.TemporaryDirectory(prefix="metamem-") as scratch:
            folder = Path(scratch)
            write_tree(files, folder)
            done = run_blocking(
                ["sh", "-c", _SHORTCUT + command],
                folder,
                self.limits.command_seconds,
                limits,
                shown={_KIT_INSIDE: KIT},
                environment=_ENVIRONMENT,
            )
            try:
                after = read_tree(folder)
            except DataError as error:
                return {"text": f"{error.message}: undone", "exit_code": 1, "changed": {}}, True
        changed: dict[str, str | None] = {
            path: text for path, text in after.items() if files.get(path) != text
        }
        changed |= {path: None for path in files if path not in after}
        value = {"text": self._said(done), "exit_code": _shell_code(done), "changed": changed}
        return value, not done.timed_out

    def _said(self, done: CommandResult) -> str:
        text = done.stdout + done.stderr
        if len(text) > self.limits.output_chars:
            half = self.limits.output_chars // 2
            text = (
                f"{text[:half]}\n... ({len(text) - 2 * half} characters left out)\n{text[-half:]}"
            )
        if done.timed_out:
            text += f"\n(ended after {self.limits.command_seconds:g} s)"
        elif done.too_many_processes:
            text += "\n(ended: too many processes)"
        elif done.ended_by == "tree":
            text += "\n(ended: too much was written)"
        elif done.exit_code in (-24, -9):
            text += "\n(killed: over its CPU time or memory)"
        return text.strip("\n")

    def _passed(self, files: Files, tests: Sequence[str]) -> tuple[list[str], bool]:
        plan: dict[str, list[str]] = {}
        for test in tests:
            path, _, name = test.partition("::")
            plan.setdefault(path, []).append(name)
        nonce = secrets.token_hex(16)
        request = {"kit": _KIT_INSIDE, "nonce": nonce, "cpu": self.limits.test_cpu, "files": plan}
        with tempfile.TemporaryDirectory(prefix="metamem-") as scratch:
            write_tree(files, Path(scratch))
            done = run_blocking(
                ["python", "-I", "-S", "-B", "-X", "utf8", "-c", _START_GUARD],
                Path(scratch),
                self.limits.test_seconds,
                WorkspaceLimits(
                    cpu=self.limits.test_cpu * (len(plan) + 1), memory_mb=self.limits.memory_mb
                ),
                shown={_KIT_INSIDE: KIT},
                environment={"PYTHONHASHSEED": "0"},
                stdin=json.dumps(request).encode(),
                proc=False,
            )
        answers = _answers(done.stdout, nonce)
        if "ready" not in answers and not done.timed_out:
            raise EngineFault(
                f"the test runner did not start: {done.stderr.strip()[-300:] or done.exit_code}"
            )
        passed = [
            f"{answer[0]}::{name}"
            for answer in answers
            if isinstance(answer, list)
            for name in answer[1]
        ]
        return sorted(passed), not done.timed_out


def _shell_code(done: CommandResult) -> int:
    """As a shell tells of a signal, unless it was metamem that ended the whole command."""
    from_outside = done.ended_by in ("wall", "processes", "tree")
    return done.exit_code if done.exit_code >= 0 or from_outside else 128 - done.exit_code


def _answers(output: str, nonce: str) -> list[Any]:
    """Lines that begin with the nonce are the guard's; all others are noise."""
    return [
        json.loads(line.removeprefix(nonce))
        for line in output.splitlines()
        if line.startswith(nonce)
    ]
