"""Calls and sessions, written by hand."""

from metamem.foundry.words import Trace, Use

MISSING = "sh: pytest: command not found"
NO_HTTPX = "ModuleNotFoundError: No module named 'httpx'"


def run(command: str, output: str = "", code: int = 0, at: int | None = None) -> Use:
    return Use("", "Bash", {"command": command}, output, failed=code != 0, exit_code=code, at=at,
               prompt="p")  # fmt: skip


def call(tool: str, error: str = "", **arguments: object) -> Use:
    return Use("", tool, arguments, "" if error else "done", error, failed=bool(error), prompt="p")


def trace(session: str, *uses: Use, goal: str = "", at: int = 0, ended: bool = False) -> Trace:
    numbered = tuple(
        Use(str(n), u.tool, u.arguments, u.result, u.error, u.failed, u.exit_code,
            at + n if u.at is None else u.at, prompt="p")
        for n, u in enumerate(uses)
    )  # fmt: skip
    end = at + len(uses) if ended else None
    return Trace("t/project/p", "claude", session, numbered, {"p": goal}, ended_at=end)
