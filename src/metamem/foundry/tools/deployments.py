"""Which tools are in use now, since when and by whose word; and which were.

Every function runs inside a block of a database. At most one version of a tool is in use.
"""

from contextlib import suppress
from dataclasses import dataclass

from metamem.core.errors import UnknownName
from metamem.foundry.tools.store import Kept, tool_of
from metamem.store.engine import Execute
from metamem.store.sql.base import insert


@dataclass(frozen=True, slots=True)
class Deployment:
    number: int
    slot: str
    tool: str
    commit: str
    by: str  # who approved it
    at: int
    ended_at: int | None
    why: str  # it ended


@dataclass(frozen=True, slots=True)
class Deployed:
    """A tool that is in use."""

    kept: Kept
    deployment: Deployment

    @property
    def name(self) -> str:
        return self.kept.name


def deployed(execute: Execute, scope: int) -> list[Deployed]:
    """The tools that are in use, by name."""
    open_now = [each for each in deployments(execute, scope) if each.ended_at is None]
    found = [Deployed(tool_of(execute, scope, each.tool), each) for each in open_now]
    return sorted(found, key=lambda each: each.name)


def ended(execute: Execute, scope: int) -> list[Deployed]:
    """Versions that were in use and are no more, each as it was the last time; the last that ended first."""
    rows = deployments(execute, scope)
    in_use = {each.tool for each in rows if each.ended_at is None}
    last = {each.tool: each for each in rows if each.tool not in in_use}
    found = []
    for each in last.values():
        with suppress(UnknownName):  # it was erased
            found.append(Deployed(tool_of(execute, scope, each.tool), each))
    return sorted(found, key=lambda each: (-(each.deployment.ended_at or 0), each.kept.id))


def deployments(execute: Execute, scope: int, slot: str = "") -> list[Deployment]:
    """Of one tool, or of all in a scope; the oldest first."""
    rows = execute(
        "SELECT number, slot, tool, revision, decided_by, at, ended_at, why FROM tool_deployments"
        " WHERE scope = ? AND (slot = ? OR ? = '') ORDER BY number",
        (scope, slot, slot),
    )
    return [Deployment(*row) for row in rows]


def begin(
    execute: Execute, scope: int, slot: str, tool: str, commit: str, by: str, at: int
) -> None:
    insert(execute, "tool_deployments", {
        "scope": scope, "slot": slot, "tool": tool, "revision": commit, "decided_by": by,
        "at": at, "why": "",
    })  # fmt: skip


def end(execute: Execute, scope: int, slot: str, why: str, at: int) -> bool:
    """Whether there was something to end."""
    return bool(
        execute(
            "UPDATE tool_deployments SET ended_at = ?, why = ? WHERE scope = ? AND slot = ?"
            " AND ended_at IS NULL RETURNING 1",
            (at, why, scope, slot),
        )
    )


def move(execute: Execute, number: int, commit: str) -> None:
    """Say in which commit a deployment is found now."""
    execute("UPDATE tool_deployments SET revision = ? WHERE number = ?", (commit, number))
